//! How long guests take.

use std::time::Duration;

/// A wait that is shorter than this would only burn processor time.
const SHORTEST: Duration = Duration::from_millis(5);

/// How long guests take for what they do by themselves; times on the machine's clock are divided by the speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// From power on to the first thing that the operating system does, on the simulated clock.
    pub boot: Duration,
    /// From the power button to powered off, or to the reboot, on the simulated clock.
    pub shutdown: Duration,
    /// From registered to ready.
    pub ready: Duration,
    /// From a service's failure to its next attempt, as `RestartSec` says.
    pub restart: Duration,
    /// From a kubelet's silence to its node being taken for lost.
    pub lost: Duration,
    /// How much faster than real ones guests are.
    pub speed: f64,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            boot: Duration::from_secs(20),
            shutdown: Duration::from_secs(5),
            ready: Duration::from_secs(10),
            restart: Duration::from_secs(2),
            lost: Duration::from_secs(40),
            speed: 1.0,
        }
    }
}

impl Times {
    /// How long `duration` is at the guests' speed.
    pub(super) fn scaled(&self, duration: Duration) -> Duration {
        let scaled = duration.as_secs_f64() / self.speed.max(1e-6);
        Duration::try_from_secs_f64(scaled).unwrap_or(Duration::MAX).max(SHORTEST)
    }
}
