//! The command `plugin`: starts a plugin, and tests it against the laws.

mod begin;
mod checkout;
mod laws;
mod templates;

use clap::Subcommand;

use crate::failure::Failure;

/// Begin a plugin of your own, or test one in another language
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink plugin new my_method --role clusterer
  mustlink plugin test -- python3 my_method.py")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Test(laws::Test),
    New(begin::New),
}

impl Args {
    /// True for `plugin test`.
    pub fn is_test(&self) -> bool {
        matches!(self.what, What::Test(_))
    }
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    match &args.what {
        What::Test(test) => laws::run(test),
        What::New(new) => begin::run(new),
    }
}
