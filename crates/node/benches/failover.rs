//! How long the API is away when something happens to the machine that holds its address: with our settings and with those of
//! the reference installer, on the same hosts at the same time.
//!
//! Needs root. `LANDFALL_TRIALS` says how often each fault happens [default: 50], `LANDFALL_FAULT` chooses faults by a part of
//! their names.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops when it cannot"
)]
#![allow(dead_code, reason = "the laboratory is that of the tests, which do more with it")]

#[path = "../tests/machines/faults.rs"]
mod faults;
#[path = "../tests/machines/masters.rs"]
mod masters;
#[path = "../tests/machines/outage.rs"]
mod outage;
#[path = "../tests/machines/reference.rs"]
mod reference;
#[path = "../tests/machines/segment.rs"]
mod segment;

use std::time::Duration;

use faults::{FAULTS, Fault};
use masters::{Masters, Settings};

fn main() {
    let trials = std::env::var("LANDFALL_TRIALS").ok().and_then(|text| text.parse().ok()).unwrap_or(50_usize);
    let chosen = std::env::var("LANDFALL_FAULT").unwrap_or_default();
    let faults: Vec<&Fault> = FAULTS.iter().filter(|fault| fault.name.contains(&chosen)).collect();
    let rows = std::thread::scope(|scope| {
        let measured = [Settings::Landfall, Settings::Reference].map(|settings| {
            let faults = &faults;
            scope.spawn(move || {
                let Some(lab) = Masters::start(settings) else { return Vec::new() };
                faults.iter().map(|fault| measure(fault, &lab, trials)).collect::<Vec<_>>()
            })
        });
        measured.map(|thread| thread.join().unwrap())
    });
    println!(
        "| fault, {trials} times | Landfall: median, s | 99th, s | worst, s | reference: median, s | 99th, s | worst, s |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (row, fault) in faults.iter().enumerate() {
        let figures: Vec<String> =
            rows.iter().filter_map(|settings| settings.get(row)).map(|outages| figures(outages)).collect();
        println!("| {} | {} |", fault.name, figures.join(" | "));
    }
}

fn measure(fault: &Fault, lab: &Masters, trials: usize) -> Vec<Duration> {
    let mut outages: Vec<Duration> = (0..trials)
        .map(|trial| {
            let outage = fault.trial(lab);
            eprintln!("{:?}, {} {trial}: {:.2} s", lab.settings, fault.name, outage.as_secs_f64());
            outage
        })
        .collect();
    outages.sort();
    outages
}

/// Median, 99th percentile and worst. Rounded up: of a few trials the 99th percentile is the worst.
fn figures(outages: &[Duration]) -> String {
    let at = |share: usize| outages[(outages.len() * share).div_ceil(100).max(1) - 1].as_secs_f64();
    format!("{:.2} | {:.2} | {:.2}", at(50), at(99), at(100))
}
