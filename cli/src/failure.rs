//! Why a verb ends early.

use mustlink::Error;

/// Why a verb ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error whose objects, if it names any, are row numbers.
    Error(Error),
    /// A finished message.
    Message { message: String, status: u8 },
    /// The reader of standard output is gone: nothing is left to do, and nothing is wrong.
    ClosedPipe,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

impl Failure {
    /// Wrong use of the command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure::Error(Error::Usage(message.into()))
    }

    /// An error whose objects are shown by `id`.
    pub fn named(error: &Error, id: &dyn Fn(usize) -> String) -> Self {
        match error {
            Error::Config(_) | Error::Cancelled => Failure::Error(error.clone()),
            _ => Failure::Message { message: error.render(id), status: error.exit_status() },
        }
    }
}
