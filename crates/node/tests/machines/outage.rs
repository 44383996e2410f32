//! The client, and how long it was without the API.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, ChildStdout},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// Calls in a row that must succeed before the API counts as back.
const STEADY: usize = 20;
/// Within which a fault shows, if it shows at all.
const SHOWS: Duration = Duration::from_secs(4);
/// Far beyond anything that is right: a machine that is busy with other tests is slow.
const DEADLINE: Duration = Duration::from_mins(1);

/// One call: when it began, in seconds of the client's clock, and whether it succeeded.
type Call = (f64, bool);

/// What the client saw.
pub(crate) struct Probe {
    process: Child,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Probe {
    /// Follows a client that writes a line for each call.
    pub(crate) fn follow(mut process: Child) -> Self {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (lines, kept) = (process.stdout.take().unwrap(), Arc::clone(&calls));
        std::thread::spawn(move || read(lines, &kept));
        Self { process, calls }
    }

    /// The calls so far, as a beginning for [`Probe::outage_since`].
    pub(crate) fn mark(&self) -> usize {
        self.calls.lock().unwrap().len()
    }

    /// Waits until calls succeed again and again, and returns the longest time since `mark` in which none did.
    pub(crate) fn outage_since(&self, mark: usize) -> Duration {
        let begun = Instant::now();
        loop {
            let calls = self.calls.lock().unwrap()[mark..].to_vec();
            let steady = calls.len() >= STEADY && calls[calls.len() - STEADY..].iter().all(|(_, good)| *good);
            if steady && begun.elapsed() > SHOWS {
                return longest_gap(&calls);
            }
            assert!(
                begun.elapsed() < DEADLINE,
                "the API does not come back: {:?}",
                &calls[calls.len().saturating_sub(10)..]
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Whether the last calls have all succeeded.
    pub(crate) fn is_steady(&self) -> bool {
        let calls = self.calls.lock().unwrap();
        calls.len() >= STEADY && calls[calls.len() - STEADY..].iter().all(|(_, good)| *good)
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Calls run side by side and end in any order; what counts is when they began.
fn read(lines: ChildStdout, calls: &Mutex<Vec<Call>>) {
    for line in BufReader::new(lines).lines().map_while(Result::ok) {
        if let Some((began, outcome)) = line.split_once(' ')
            && let Ok(began) = began.parse()
        {
            calls.lock().unwrap().push((began, outcome == "ok"));
        }
    }
}

/// From the first call that failed to the next that succeeded.
fn longest_gap(calls: &[Call]) -> Duration {
    let mut calls = calls.to_vec();
    calls.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut longest, mut failing_since) = (0.0_f64, None);
    for (began, good) in calls {
        match (good, failing_since) {
            (false, None) => failing_since = Some(began),
            (true, Some(since)) => {
                longest = longest.max(began - since);
                failing_since = None;
            }
            _ => {}
        }
    }
    Duration::from_secs_f64(longest)
}

#[test]
fn an_outage_lasts_from_the_first_failure_to_the_next_success() {
    let calls = [(0.0, true), (0.1, false), (0.3, false), (0.2, false), (0.6, true), (0.7, false), (0.8, true)];
    assert!((longest_gap(&calls).as_secs_f64() - 0.5).abs() < 1e-6);
    assert_eq!(longest_gap(&[(0.0, true)]), Duration::ZERO);
}
