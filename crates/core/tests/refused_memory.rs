//! A channel that cannot be had keeps no memory. In a process of its own, whose memory nobody else
//! changes meanwhile.
#![cfg(target_os = "linux")]

use overtake_core::Builder;

/// How much memory this process has touched, in MiB.
fn touched() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") / 1_024
}

/// The bands that could be had are given back when one cannot.
#[test]
fn kind_09_a_channel_that_cannot_be_had_keeps_no_memory() {
    // Eight MiB in a band, of which every page is touched.
    let large = || Builder::new().band(4_096);
    let before = touched();
    for _ in 0..10 {
        let refused = large().band(usize::MAX).build::<[u8; 1_016]>();
        assert!(refused.is_err());
    }
    let after = touched();
    assert!(after < before + 40, "from {before} to {after} MiB by channels that were refused");
    // The control: the meter sees those that are had.
    let had = [(); 10].map(|()| large().band(1).build::<[u8; 1_016]>().expect("memory"));
    assert!(touched() >= after + 40, "{} MiB beside {} channels", touched(), had.len());
}
