//! Nothing here: the benches are thin files over the contenders and workloads of `overtake-sim`.
