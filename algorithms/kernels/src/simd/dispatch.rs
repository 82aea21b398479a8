//! Run-time dispatch: which instruction set is computed with.
//!
//! The widest that the machine has; `MUSTLINK_SIMD = scalar`, `avx2` or `avx512` forces one. It changes
//! speed, never a label.

use mustlink_core::{Error, Result};
use pulp::{Simd, WithSimd};

#[derive(Clone, Copy)]
enum Level {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
    #[cfg(target_arch = "x86_64")]
    Avx512(pulp::x86::V4),
    #[cfg(not(target_arch = "x86_64"))]
    Native(pulp::Arch),
}

fn level() -> Level {
    static LEVEL: std::sync::OnceLock<Level> = std::sync::OnceLock::new();
    *LEVEL.get_or_init(|| {
        let forced = std::env::var("MUSTLINK_SIMD").unwrap_or_default();
        if forced == "scalar" {
            return Level::Scalar;
        }
        #[cfg(target_arch = "x86_64")]
        {
            let wide = if forced == "avx2" { None } else { pulp::x86::V4::try_new() };
            match (wide, pulp::x86::V3::try_new()) {
                (Some(simd), _) => Level::Avx512(simd),
                (None, Some(simd)) => Level::Avx2(simd),
                (None, None) => Level::Scalar,
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Level::Native(pulp::Arch::new())
    })
}

/// Checks that the word in `MUSTLINK_SIMD`, if there is one, is an instruction set of this machine. Otherwise
/// the widest one is used.
///
/// # Errors
/// `BadParam` with the words that this machine takes.
pub fn check_forced() -> Result<()> {
    let Some(word) = std::env::var_os("MUSTLINK_SIMD").filter(|word| !word.is_empty()) else {
        return Ok(());
    };
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut))]
    let mut there = vec!["scalar"];
    #[cfg(target_arch = "x86_64")]
    {
        there.extend(pulp::x86::V3::try_new().map(|_| "avx2"));
        there.extend(pulp::x86::V4::try_new().map(|_| "avx512"));
    }
    if there.iter().any(|name| word == *name) {
        return Ok(());
    }
    let legal = format!("one of {} on this machine, or not set", there.join(", "));
    Err(Error::bad_param("MUSTLINK_SIMD", word.display(), legal))
}

/// Runs `op` under the instruction set of this machine.
pub(crate) fn dispatch<Op: WithSimd>(op: Op) -> Op::Output {
    match level() {
        Level::Scalar => Simd::vectorize(pulp::Scalar, op),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(simd) => Simd::vectorize(simd, op),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(simd) => Simd::vectorize(simd, op),
        #[cfg(not(target_arch = "x86_64"))]
        Level::Native(arch) => arch.dispatch(op),
    }
}
