//! Logarithms, exponentials and powers with the same bits on every machine.
//!
//! Those of the standard library call the C library. Its last bits differ between glibc and musl, and on
//! glibc between processors with and without fused multiplication. A model file would show that. What is
//! here is computed in Rust; Clippy refuses the others (`clippy.toml`).
//!
//! Sums, products, quotients, square roots and `mul_add` are rounded once and alike on all machines.
//! `rand_distr` calls the standard library in one of 70 draws of a normal number. These are drawn in single
//! precision, where a difference in the last bit of double precision is lost but for one time in 10^8.

use std::ops::Mul;

/// What the functions here are computed for: `f32` and `f64`.
pub trait Real: Copy + Mul<Output = Self> + sealed::Functions {}

impl Real for f32 {}
impl Real for f64 {}

/// The square.
pub fn square<R: Real>(x: R) -> R {
    x * x
}

/// Writes down the functions for both types once: the name here, its names in `libm`, what it is.
macro_rules! functions {
    ($($name:ident($($argument:ident),+) $single:ident $double:ident $help:literal)*) => {
        $(
            #[doc = $help]
            pub fn $name<R: Real>($($argument: R),+) -> R {
                R::$name($($argument),+)
            }
        )*

        mod sealed {
            pub trait Functions: Sized {
                $(fn $name($($argument: Self),+) -> Self;)*
            }

            impl Functions for f32 {
                $(fn $name($($argument: Self),+) -> Self {
                    libm::$single($($argument),+)
                })*
            }

            impl Functions for f64 {
                $(fn $name($($argument: Self),+) -> Self {
                    libm::$double($($argument),+)
                })*
            }
        }
    };
}

functions! {
    exp(x) expf exp "e to the power `x`."
    exp2(x) exp2f exp2 "2 to the power `x`."
    ln(x) logf log "The natural logarithm."
    ln_1p(x) log1pf log1p "The natural logarithm of `1 + x`, exact for small `x`, too."
    log2(x) log2f log2 "The logarithm to base 2."
    log10(x) log10f log10 "The logarithm to base 10."
    powf(x, power) powf pow "`x` to a power."
    cbrt(x) cbrtf cbrt "The cube root."
    acos(x) acosf acos "The angle with this cosine, from 0 to pi."
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    /// The results at a thousand places from 0.002 to 50, as one number.
    fn fingerprint(function: impl Fn(f32, f64) -> (f32, f64)) -> u64 {
        let places = std::iter::successors(Some(0.002), |x| Some(x * 1.01));
        let results = places.take(1000).map(|x: f64| function(x as f32, x));
        let bytes: Vec<u8> = results
            .flat_map(|(single, double)| [single.to_bits().into(), double.to_bits()])
            .flat_map(u64::to_le_bytes)
            .collect();
        xxh3_64(&bytes)
    }

    /// Whoever changes a function sees here that model files change.
    #[test]
    fn all_machines_compute_these_bits() {
        let found = [
            fingerprint(|single, double| (exp(-single), exp(-double))),
            fingerprint(|single, double| (exp2(single), exp2(double))),
            fingerprint(|single, double| (ln(single), ln(double))),
            fingerprint(|single, double| (ln_1p(single), ln_1p(double))),
            fingerprint(|single, double| (log2(single), log2(double))),
            fingerprint(|single, double| (log10(single), log10(double))),
            fingerprint(|single, double| (powf(single, -0.33), powf(double, -0.33))),
            fingerprint(|single, double| (cbrt(single), cbrt(double))),
            fingerprint(|single, double| (acos(single / 50.0), acos(double / 50.0))),
        ];
        let expected = [
            0x7958_31ec_be69_ff3b,
            0xbdfa_82f9_77ec_2d75,
            0x01b7_44aa_220b_939f,
            0x36fc_41a9_ae62_c089,
            0xf692_f180_d4a3_670a,
            0x13b8_5b08_d32c_7ccc,
            0xe521_e613_4bb1_402b,
            0x50b9_cfbd_16cf_b0ce,
            0x28df_dcd4_29fa_c498,
        ];
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn std_says_nearly_the_same(x in 1e-3f64..50.0, power in -3f64..3.0) {
            let pairs = [
                (exp(x), x.exp()),
                (exp(-x), (-x).exp()),
                (exp2(x), x.exp2()),
                (ln(x), x.ln()),
                (ln_1p(x), x.ln_1p()),
                (log2(x), x.log2()),
                (log10(x), x.log10()),
                (powf(x, power), x.powf(power)),
                (cbrt(x), x.cbrt()),
                (acos(x / 50.0), (x / 50.0).acos()),
                (square(x), x * x),
            ];
            for (position, (ours, theirs)) in pairs.into_iter().enumerate() {
                let apart = (ours - theirs).abs() / theirs.abs().max(1e-3);
                prop_assert!(apart < 1e-14, "function {position}: {ours} and {theirs}");
            }
        }
    }
}
