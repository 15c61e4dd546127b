//! The files that a run writes: no two of them, and none of them and the input, may be one.

use std::path::Path;

use crate::args::RunArgs;
use crate::exit::Failure;
use crate::job_file::Identity;

/// Fails if a file has two uses. Only the unfinished file may be the input, which it replaces.
pub(super) fn check(args: &RunArgs, input: Option<&Identity>) -> Result<(), Failure> {
    let outputs = [
        ("--dead-letters", &args.dead_letters),
        ("--unfinished", &args.unfinished),
        ("--events", &args.events),
        ("--log", &args.log),
    ];
    let mut seen = Vec::new();
    if let Some(input) = input {
        seen.push(("the input", input.clone()));
    }
    for (option, path) in outputs {
        let Some((path, identity)) = path.as_deref().and_then(identified) else {
            continue;
        };
        let other = seen.iter().find(|(_, before)| *before == identity).map(|(other, _)| *other);
        match (option, other) {
            (_, None) | ("--unfinished", Some("the input")) => seen.push((option, identity)),
            (_, Some(other)) => {
                let path = path.display();
                return Err(Failure::new(format!("{option}: {path} is {other} as well")));
            }
        }
    }
    Ok(())
}

fn identified(path: &Path) -> Option<(&Path, Identity)> {
    Identity::at(path).map(|identity| (path, identity))
}
