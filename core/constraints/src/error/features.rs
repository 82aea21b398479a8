//! The feature that an error is about, after features were renumbered.
//!
//! A step numbers the features that it sees. The caller of the step maps these numbers to the features before the
//! step, or to the names that the user knows. A number without such a feature stays in the message unchanged.

use super::Error;

impl Error {
    /// The same error, with the feature by the number that `before` gives for its own.
    #[must_use]
    pub fn with_feature(self, before: &dyn Fn(usize) -> Option<usize>) -> Error {
        self.about_feature(&|error, feature| match (before(feature), error) {
            (Some(feature), Error::Feature { message, .. }) => Error::Feature { feature, message },
            (Some(feature), Error::Magnitude { value, .. }) => {
                Error::Magnitude { column: Some(feature), value }
            }
            (_, error) => Error::Named { message: error.to_string(), source: Box::new(error) },
        })
    }

    /// The same error, with the feature by its name; without names as it was.
    #[must_use]
    pub fn with_feature_names(self, names: &[String]) -> Error {
        self.about_feature(&|error, feature| {
            let Some(name) = names.get(feature) else { return error };
            // Names of columns may have lines of their own, as those of spreadsheets do.
            let name = name.replace(char::is_control, " ");
            let (by_number, by_name) = (format!(" {feature}:"), format!(" \"{name}\":"));
            let message = error.to_string().replacen(&by_number, &by_name, 1);
            Error::Named { message, source: Box::new(error) }
        })
    }

    /// Replaces an error that refers to a feature by number with the result of `change`.
    fn about_feature(self, change: &dyn Fn(Error, usize) -> Error) -> Error {
        match self {
            Error::At { place, source } => {
                Error::At { place, source: Box::new(source.about_feature(change)) }
            }
            Error::Feature { feature, .. } | Error::Magnitude { column: Some(feature), .. } => {
                change(self, feature)
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_called_by_number_and_by_name() {
        let names = ["length".to_string(), "sepal\nwidth".to_string()];
        let feature = |feature| Error::Feature { feature, message: "no: 1: value".into() };
        let magnitude = Error::Magnitude { column: Some(0), value: 1e200 };
        let said = |error: Error| error.at("transforms[1]").with_feature_names(&names).to_string();
        assert_eq!(said(feature(1)), "transforms[1]: data: feature \"sepal width\": no: 1: value");
        assert!(
            said(magnitude.clone())
                .starts_with("transforms[1]: data: column \"length\": the largest value")
        );
        assert_eq!(said(feature(2)), "transforms[1]: data: feature 2: no: 1: value");
        // Of chosen ones the number before, and what is made of several has no name.
        let chosen = |error: Error| said(error.with_feature(&|s| [1, 0].get(s).copied()));
        assert!(chosen(feature(0)).contains("data: feature \"sepal width\""));
        assert!(chosen(magnitude.clone()).contains("data: column \"sepal width\""));
        let made = magnitude.clone().with_feature(&|_| None);
        assert_eq!((made.root(), made.exit_status()), (&magnitude, magnitude.exit_status()));
        assert!(said(made).contains("data: column 0: "));
    }
}
