//! Numbers in fields, read exactly or refused.

use std::time::Duration;

use super::skip::{Field, SkipReason, shown};

/// Above this an `f64` no longer holds every whole number.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Refuses a field that does not hold a finite number.
pub(super) fn check(field: Field, text: &str) -> Result<f64, SkipReason> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err(SkipReason::NotFinite { field, value: shown(text) }),
        Err(_) => Err(SkipReason::NotANumber { field, value: shown(text) }),
    }
}

/// A time in seconds, down to the nanosecond; -1 is `None`.
///
/// Digits are read as they stand, so that the time is exact where an `f64` would not be. Only a
/// number with an exponent goes through an `f64`, and is refused where that is not exact.
pub(super) fn time(field: Field, text: &str) -> Result<Option<Duration>, SkipReason> {
    let number = check(field, text)?;
    if number == -1.0 {
        return Ok(None);
    }
    if number < 0.0 {
        return Err(SkipReason::Negative { field, value: shown(text) });
    }
    let digits = text.trim_start_matches(['+', '-']);
    let time = if digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        decimal(digits)
    } else if number <= MAX_EXACT {
        Duration::try_from_secs_f64(number).ok()
    } else {
        None
    };
    match time {
        Some(time) if time.as_secs() <= i64::MAX.unsigned_abs() => Ok(Some(time)),
        _ => Err(SkipReason::TooLarge { field, value: shown(text) }),
    }
}

/// A whole number; one written as `3.0` is whole too.
pub(super) fn whole(field: Field, text: &str) -> Result<i64, SkipReason> {
    let number = check(field, text)?;
    if let Ok(exact) = text.parse() {
        Ok(exact)
    } else if number.fract() != 0.0 {
        Err(SkipReason::NotWhole { field, value: shown(text) })
    } else if number.abs() <= MAX_EXACT {
        Ok(number as i64)
    } else {
        Err(SkipReason::TooLarge { field, value: shown(text) })
    }
}

/// Seconds from digits with at most one point, or `None` beyond 64 bits.
fn decimal(digits: &str) -> Option<Duration> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let seconds = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let nanos = fraction
        .bytes()
        .chain(std::iter::repeat(b'0'))
        .take(9)
        .fold(0, |nanos, digit| nanos * 10 + u32::from(digit - b'0'));
    Some(Duration::new(seconds, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELD: Field = Field { number: 2, name: "submit time" };

    #[test]
    fn times_are_exact() {
        let table = [
            ("0", Duration::ZERO),
            ("-0", Duration::ZERO),
            ("+7", Duration::from_secs(7)),
            ("007", Duration::from_secs(7)),
            ("0.4", Duration::from_millis(400)),
            (".5", Duration::from_millis(500)),
            ("5.", Duration::from_secs(5)),
            ("12.5", Duration::from_millis(12_500)),
            ("1.0000000019", Duration::new(1, 1)),
            ("1.5e3", Duration::from_secs(1_500)),
            ("1e-400", Duration::ZERO),
            ("2147483648", Duration::from_secs(1 << 31)),
            ("4294967297", Duration::from_secs((1 << 32) + 1)),
            ("9007199254740993", Duration::from_secs((1 << 53) + 1)),
            ("9223372036854775807.999999999", Duration::new((1 << 63) - 1, 999_999_999)),
        ];
        for (text, expected) in table {
            assert_eq!(time(FIELD, text), Ok(Some(expected)), "{text}");
        }
        assert_eq!(time(FIELD, "-1"), Ok(None));
        assert_eq!(time(FIELD, "-1.0"), Ok(None));
    }

    #[test]
    fn other_times_are_refused_with_their_value() {
        let table = [
            ("9223372036854775808", "is too large to be kept exactly"),
            ("99999999999999999999999", "is too large to be kept exactly"),
            ("1e16", "is too large to be kept exactly"),
            ("1e400", "is not a finite number"),
            ("nan", "is not a finite number"),
            ("-inf", "is not a finite number"),
            ("-2", "is negative"),
            ("-0.4", "is negative"),
            ("1.2.3", "is not a number"),
            (".", "is not a number"),
            ("+", "is not a number"),
            ("0x10", "is not a number"),
            ("1_000", "is not a number"),
            ("٣", "is not a number"),
            ("", "is not a number"),
        ];
        for (text, expected) in table {
            let reason = time(FIELD, text).unwrap_err().to_string();
            assert_eq!(reason, format!("field 2 (submit time): `{text}` {expected}"));
        }
    }

    #[test]
    fn whole_numbers() {
        assert_eq!(whole(FIELD, "-1"), Ok(-1));
        assert_eq!(whole(FIELD, "3.0"), Ok(3));
        assert_eq!(whole(FIELD, "9223372036854775807"), Ok(i64::MAX));
        for (text, expected) in [("3.5", "whole"), ("9223372036854775808", "large")] {
            assert!(whole(FIELD, text).unwrap_err().to_string().contains(expected));
        }
    }
}
