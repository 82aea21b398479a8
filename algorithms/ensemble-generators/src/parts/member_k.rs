//! The number of clusters of a member.

use mustlink_core::prelude::*;

/// A number of clusters between two bounds, both included.
#[options]
#[derive(Copy, PartialEq, Eq)]
pub struct Uniform {
    /// Smallest number. If absent, 2.
    #[option(min = 1)]
    pub min: Option<usize>,
    /// Largest number. If absent, √n rounded up.
    #[option(min = 1)]
    pub max: Option<usize>,
}

/// A number of clusters from a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Numbers to draw from; repeated numbers are more likely.
    #[option(nonempty = true)]
    pub list: Vec<usize>,
}

/// The number of clusters of each member: `3`, `{ min = 2, max = 20 }` or `{ list = [3, 5, 8] }`.
#[options]
#[derive(Eq)]
pub enum MemberK {
    /// This number.
    Fixed(#[option(min = 1)] usize),
    /// A number drawn from a list.
    List(List),
    /// A number drawn between two bounds.
    Uniform(Uniform),
}

impl MemberK {
    /// The number for one member over `n` objects.
    ///
    /// # Errors
    /// `BadParam` for bounds or numbers outside 1 to n.
    pub fn draw(&self, n: usize, stream: &mut Stream) -> Result<usize> {
        match self {
            MemberK::Fixed(k) => Ok(*k),
            MemberK::List(List { list }) => match list.iter().find(|k| !(1..=n).contains(*k)) {
                None if !list.is_empty() => Ok(list[stream.below(list.len())]),
                bad => {
                    let given = bad.map_or("an empty list".to_string(), ToString::to_string);
                    Err(Error::bad_param("k.list", given, format!("numbers between 1 and {n}")))
                }
            },
            MemberK::Uniform(Uniform { min, max }) => {
                let min = min.unwrap_or(2.min(n));
                let root = (n as f64).sqrt().ceil() as usize;
                let max = max.unwrap_or(root.max(min));
                if min == 0 || min > max || max > n {
                    let given = format!("{min} to {max}");
                    return Err(Error::bad_param("k", given, format!("1 <= min <= max <= {n}")));
                }
                Ok(min + stream.below(max - min + 1))
            }
        }
    }

    /// The largest number it can be over `n` objects.
    pub(crate) fn most(&self, n: usize) -> usize {
        match self {
            MemberK::Fixed(k) => *k,
            MemberK::List(l) => l.list.iter().copied().max().unwrap_or(1),
            MemberK::Uniform(Uniform { min, max }) => {
                let root = (n as f64).sqrt().ceil() as usize;
                max.unwrap_or(root.max(min.unwrap_or(1)))
            }
        }
    }
}
