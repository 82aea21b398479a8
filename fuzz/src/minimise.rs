//! The smallest input that still breaks a reader.

/// Tries at most.
const TRIES: usize = 3000;

/// Leaves out ever smaller pieces of `input` as long as it `breaks`, then makes bytes plain.
pub fn minimise(input: &[u8], mut breaks: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut best = input.to_vec();
    let mut tries = 0;
    let mut piece = best.len().div_ceil(2);
    while piece > 0 && tries < TRIES {
        let (mut at, mut shorter) = (0, false);
        while at < best.len() && tries < TRIES {
            let mut tried = best.clone();
            tried.drain(at..(at + piece).min(best.len()));
            tries += 1;
            if breaks(&tried) {
                (best, shorter) = (tried, true);
            } else {
                at += piece;
            }
        }
        if !shorter || piece > 1 {
            piece /= 2;
        }
    }
    for at in 0..best.len() {
        if tries == TRIES || best[at] == b'0' || best[at].is_ascii_whitespace() {
            continue;
        }
        let mut tried = best.clone();
        tried[at] = b'0';
        tries += 1;
        if breaks(&tried) {
            best = tried;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::minimise;

    #[test]
    fn what_breaks_stays() {
        let input = b"some text with a needle and more of it";
        let small = minimise(input, |b| b.windows(6).any(|w| w == b"needle"));
        assert_eq!(small, b"needle");
        let small = minimise(&[7; 100], |b| b.len() >= 10);
        assert_eq!(small, [b'0'; 10]);
    }
}
