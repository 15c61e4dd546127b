//! Retry policies as written on the command line.

use std::time::Duration;

use overtake_runtime::RetryPolicy;

/// Reads `none`, `fixed:DELAY` or `exponential:BASE..CAP`.
pub(crate) fn parse(text: &str) -> Result<RetryPolicy, String> {
    let (kind, delays) = text.split_once(':').unwrap_or((text, ""));
    match (kind, delays.split_once("..")) {
        ("none", _) if delays.is_empty() => Ok(RetryPolicy::none()),
        ("fixed", None) => Ok(RetryPolicy::fixed(duration(delays)?)),
        ("exponential", Some((base, cap))) => {
            let (base, cap) = (duration(base)?, duration(cap)?);
            if base > cap {
                return Err(format!("the first delay, {base:?}, is above the cap, {cap:?}"));
            }
            Ok(RetryPolicy::exponential(base, cap))
        }
        _ => Err("expected `none`, `fixed:1s` or `exponential:100ms..30s`".to_owned()),
    }
}

/// Reads a duration such as `100ms`, `1s` or `2m 30s`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|error| format!("`{text}` is no duration such as 100ms or 1s: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_each_kind() {
        assert_eq!(parse("none"), Ok(RetryPolicy::none()));
        assert_eq!(parse("fixed:1s"), Ok(RetryPolicy::fixed(Duration::from_secs(1))));
        let (base, cap) = (Duration::from_millis(100), Duration::from_secs(30));
        assert_eq!(parse("exponential:100ms..30s"), Ok(RetryPolicy::exponential(base, cap)));
    }

    #[test]
    fn says_what_is_wrong() {
        for text in ["", "fixed", "fixed:1s..2s", "none:1s", "exponential:1s", "linear:1s"] {
            let error = parse(text).expect_err(text);
            assert!(error.contains("expected `none`") || error.contains("no duration"), "{error}");
        }
        assert!(parse("fixed:-1s").expect_err("negative").contains("`-1s`"));
        assert!(parse("exponential:2s..1s").expect_err("crossed").contains("above the cap"));
    }
}
