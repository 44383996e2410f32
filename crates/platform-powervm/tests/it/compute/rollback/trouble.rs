//! What can go wrong with a call.

use std::time::Duration;

use landfall_platform_powervm::compute::Run;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The console refuses.
    Refused,
    /// The console fails, and would not the next time.
    Failed,
    /// The console does it, and its answer is lost.
    LostReply,
    /// There is no answer before the step's time is over, and nothing is done.
    NoAnswer,
    /// The program dies while it waits for the answer, and nothing is done.
    KilledBefore,
    /// The program dies while it waits for the answer, and then it is done.
    KilledAfter,
}

/// What a step is given when there is no answer, and how long one would take, in simulated time: twice as long.
const PATIENCE: Duration = Duration::from_millis(120);
const SILENCE: &str = "25s";
/// How much later something is done than the program has died, in simulated time.
pub(crate) const LATE: Duration = Duration::from_secs(1);

impl Trouble {
    /// As a rule for the simulator says it.
    pub(crate) fn effect(self) -> String {
        match self {
            Self::Refused => "status=400 body=platform".to_owned(),
            Self::Failed => "status=500".to_owned(),
            Self::LostReply => "lost-reply".to_owned(),
            Self::NoAnswer => format!("latency={SILENCE}"),
            Self::KilledBefore => "latency=1000000s".to_owned(),
            Self::KilledAfter => format!("late={}s", LATE.as_secs()),
        }
    }

    pub(crate) fn kills(self) -> bool {
        matches!(self, Self::KilledBefore | Self::KilledAfter)
    }

    /// How patient a program is with it.
    pub(crate) fn patience(self, mut run: Run) -> Run {
        run.limit = (self == Self::NoAnswer).then_some(PATIENCE);
        run.options.removal_timeout = Some(Duration::from_mins(1));
        run
    }
}

/// Calls that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    /// Those that change nothing.
    Reads,
    /// Those that may.
    Writes,
}

impl Calls {
    pub(crate) fn methods(self) -> &'static str {
        match self {
            Self::Reads => "GET",
            Self::Writes => "PUT,POST,DELETE",
        }
    }

    /// Whether something is done or not makes no difference for a read.
    pub(crate) fn troubles(self) -> &'static [Trouble] {
        match self {
            Self::Reads => &[Trouble::Refused, Trouble::LostReply, Trouble::NoAnswer, Trouble::KilledBefore],
            Self::Writes => &[
                Trouble::Refused,
                Trouble::Failed,
                Trouble::LostReply,
                Trouble::NoAnswer,
                Trouble::KilledBefore,
                Trouble::KilledAfter,
            ],
        }
    }
}
