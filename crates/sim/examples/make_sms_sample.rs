//! Writes the text message sample to standard output.
//!
//! `cargo run -p overtake-sim --example make_sms_sample > crates/sim/samples/sms.jsonl`

fn main() {
    print!("{}", overtake_sim::sms::sms_jobs());
}
