//! The text message case as a file of jobs: thousands of bulk messages, a few urgent ones, some
//! that fail and are tried again, some that die.

use std::fmt::Write as _;

/// How many newsletters there are.
pub const BULK: usize = 3_000;
/// How many one-time passwords; they come last in the file.
pub const URGENT: usize = 3;
/// How many reminders fail at their first attempt only.
pub const FLAKY: usize = 12;
/// How many numbers cannot be reached at all.
pub const UNREACHABLE: usize = 5;

/// The jobs, one line each, as `overtake run` reads them. Nothing is sent: the commands only
/// succeed or fail.
#[must_use]
pub fn sms_jobs() -> String {
    let mut lines = String::new();
    let mut line = |name: &str, number: usize, priority: usize, command: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(
            lines,
            r#"{{"name": "{name} {number}", "priority": {priority}, "command": {command}, "max_retries": 2}}"#
        );
    };
    for number in 1..=BULK {
        line("newsletter", number, 9, r#"["true"]"#);
        if number % (BULK / FLAKY) == 0 {
            let busy = r#"["sh", "-c", "test $OVERTAKE_ATTEMPT -gt 1"]"#;
            line("reminder", number / (BULK / FLAKY), 5, busy);
        }
        if number % (BULK / UNREACHABLE) == 0 {
            line("unreachable", number / (BULK / UNREACHABLE), 5, r#"["sh", "-c", "exit 3"]"#);
        }
    }
    for number in 1..=URGENT {
        line("password", number, 0, r#"["true"]"#);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_in_the_repository_is_this_one() {
        assert_eq!(include_str!("../samples/sms.jsonl"), sms_jobs());
        assert_eq!(sms_jobs().lines().count(), BULK + FLAKY + UNREACHABLE + URGENT);
    }
}
