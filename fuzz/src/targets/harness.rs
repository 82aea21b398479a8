//! The harness that runs every reader.

/// Reads one input after another. What they say is not looked at: that they end is all that is asked.
pub type Harness = Box<dyn FnMut(&[u8])>;
