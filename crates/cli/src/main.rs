//! The `overtake` command: jobs with strict priorities, retries and dead letters from the command
//! line, and replay of real workload logs.

#![forbid(unsafe_code)]

mod args;
mod check;
mod compare;
mod dead_letters;
mod exit;
mod job_file;
mod job_line;
mod replay;
mod retry_text;
mod run;
mod say;

use clap::{CommandFactory, Parser};

use args::{Args, Command};
use exit::{Exit, Failure};

fn main() -> std::process::ExitCode {
    let args = Args::parse();
    let result = match args.command {
        Command::Run(args) => run::run(&args),
        Command::DeadLetters(args) => dead_letters::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Completions { shell } => completions(shell),
    };
    result
        .unwrap_or_else(|failure| {
            say::error(&failure.to_string());
            Exit::Failed
        })
        .into()
}

fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "overtake", &mut script);
    say::stdout(&script)?;
    Ok(Exit::Fine)
}
