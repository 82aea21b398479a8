//! Clusterers of linfa and kodama as base clusterers. One file each.
//!
//! linfa is written for well-behaved data and some of it panics on the rest; what an adapter hands
//! over is therefore brought into the range of magnitudes where squares neither overflow nor vanish,
//! and what linfa cannot answer is looked for first.

mod parts;

pub use mustlink_kernels::noise::Noise;

automod::dir!(pub "src");
