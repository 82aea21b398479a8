//! SIMD: run-time dispatch and vector operations.

pub(crate) mod dispatch;
pub(crate) mod vectors;
