//! Writes the synthetic sample log to the file that is named, or to standard output.
//!
//! ```text
//! cargo run -p overtake-sim --example make_sample_trace -- crates/sim/samples/two-queues.swf
//! ```

use std::io;

use overtake_sim::trace::sample_swf;

fn main() -> io::Result<()> {
    match std::env::args_os().nth(1) {
        Some(path) => std::fs::write(path, sample_swf()),
        None => io::Write::write_all(&mut io::stdout(), sample_swf().as_bytes()),
    }
}
