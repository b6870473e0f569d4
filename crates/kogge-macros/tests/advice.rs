//! What a refusal says to write instead gives what was refused would have given.
//!
//! Each function is the text of its advice in `words.rs`.

use kogge_core::device;

macro_rules! floats {
    ($module:ident $float:ident $top:literal) => {
        mod $module {
            use super::*;

            #[device]
            fn ceil(x: $float) -> $float {
                -(-x).floor()
            }

            #[device]
            fn trunc(x: $float) -> $float {
                if x < 0.0 { -(-x).floor() } else { x.floor() }
            }

            #[device]
            fn round(x: $float) -> $float {
                let down = x.abs().floor();
                let near = if x.abs() - down < 0.5 { down } else { down + 1.0 };
                if x < 0.0 { -near } else { near }
            }

            #[device]
            fn exp_m1(x: $float) -> $float {
                let e = x.exp();
                if e == 1.0 {
                    x
                } else if x.abs() > 1.0 {
                    e - 1.0
                } else {
                    (e - 1.0) * (x / e.ln())
                }
            }

            #[device]
            fn ln_1p(x: $float) -> $float {
                let s = 1.0 + x;
                if s == 1.0 {
                    x
                } else if x > 1.0 {
                    s.ln()
                } else {
                    s.ln() * (x / (s - 1.0))
                }
            }

            #[device]
            fn log10(x: $float) -> $float {
                x.log2() * std::$float::consts::LOG10_2
            }

            #[device]
            fn is_sign_negative(x: $float) -> bool {
                x.to_bits() >> $top != 0
            }

            #[device]
            fn is_finite(x: $float) -> bool {
                x.abs() < $float::INFINITY
            }

            /// Equal, or as near as the errors of two functions leave them.
            fn near(given: $float, wanted: $float) -> bool {
                let close = (given - wanted).abs() <= 8.0 * $float::EPSILON * wanted.abs();
                given == wanted || given.is_nan() && wanted.is_nan() || close
            }

            fn compare(x: $float) {
                assert_eq!(ceil(x).to_bits(), x.ceil().to_bits(), "ceil {x:?}");
                assert_eq!(trunc(x).to_bits(), x.trunc().to_bits(), "trunc {x:?}");
                assert_eq!(round(x), x.round(), "round {x:?}");
                assert!(near(exp_m1(x), x.exp_m1()), "exp_m1 {x:?}: {}", exp_m1(x));
                assert!(near(ln_1p(x), x.ln_1p()), "ln_1p {x:?}: {}", ln_1p(x));
                assert!(near(log10(x.abs()), x.abs().log10()), "log10 {x:?}");
                assert_eq!(is_sign_negative(x), x.is_sign_negative(), "{x:?}");
                assert_eq!(is_finite(x), x.is_finite(), "{x:?}");
            }

            #[test]
            fn functions() {
                let special =
                    [0.0, 0.5, 1.0, 1.5, 2.5, 0.499_999_97, 0.999_999_9, 1e-4, 1e-8, 1e-30, 1e30];
                for x in special.into_iter().chain([$float::MAX, $float::INFINITY]) {
                    compare(x);
                    compare(-x);
                }
                let mut x: $float = 1e-12;
                while x < 90.0 {
                    compare(x);
                    compare(-x);
                    x *= 1.01;
                }
            }

            #[test]
            fn not_a_number_stays() {
                for given in [round($float::NAN), exp_m1($float::NAN), ln_1p($float::NAN)] {
                    assert!(given.is_nan());
                }
            }
        }
    };
}

floats!(single f32 31);
floats!(double f64 63);

#[device]
fn rem_euclid(x: i8, n: i8) -> i8 {
    let r = x % n;
    if r < 0 { r + n.abs() } else { r }
}

#[device]
fn div_euclid(x: i8, n: i8) -> i8 {
    let q = x / n;
    if x % n < 0 { if n > 0 { q - 1 } else { q + 1 } } else { q }
}

#[device]
fn abs_diff(x: i8, y: i8) -> u8 {
    (x.max(y) - x.min(y)) as u8
}

#[device]
fn abs_diff_unsigned(x: u8, y: u8) -> u8 {
    x.max(y) - x.min(y)
}

#[device]
fn rotate_left(x: i8, n: u32) -> i8 {
    let width = 8;
    let x = x as u8;
    (x << n | x >> (width - n)) as i8
}

#[device]
fn rotate_right(x: u8, n: u32) -> u8 {
    let width = 8;
    x >> n | x << (width - n)
}

/// The functions above have the text of the refusals.
#[test]
fn the_text_is_that_of_the_refusals() {
    let dense = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let (words, here) =
        (include_str!("../src/language/words.rs"), dense(include_str!("advice.rs")));
    for name in [
        "ceil",
        "round",
        "trunc",
        "exp_m1",
        "ln_1p",
        "abs_diff",
        "rotate_left",
        "rotate_right",
        "div_euclid",
        "rem_euclid",
    ] {
        let (_, advice) = words.split_once(&format!("\"{name}\" =>")).expect("an advice");
        let text = advice.split('`').nth(1).expect("text to write");
        assert!(here.contains(&dense(text)), "{name}: {text}");
    }
}

#[test]
fn integers() {
    for x in i8::MIN..=i8::MAX {
        for y in i8::MIN..=i8::MAX {
            if y != 0 {
                assert_eq!(rem_euclid(x, y), x.wrapping_rem_euclid(y), "{x} {y}");
                assert_eq!(div_euclid(x, y), x.wrapping_div_euclid(y), "{x} {y}");
            }
            assert_eq!(abs_diff(x, y), x.abs_diff(y), "{x} {y}");
            assert_eq!(abs_diff_unsigned(x as u8, y as u8), (x as u8).abs_diff(y as u8));
        }
        for n in 0..20 {
            assert_eq!(rotate_left(x, n), x.rotate_left(n), "{x} {n}");
            assert_eq!(rotate_right(x as u8, n), (x as u8).rotate_right(n), "{x} {n}");
        }
    }
}
