//! The Rust half of the Nova compute driver for PowerVM.
//!
//! Python asks for something with a line of JSON ([`Call`](call::Call)) and gets a [`Task`](task::Task), which runs on threads of its
//! own. It reads what the task has to say, line by line, and the outcome, from whichever thread it likes; nothing here calls back into
//! Python, because Nova's threads may be green ones that only one native thread may enter.
//!
//! | file | what is in it |
//! |---|---|
//! | `connection` | a server, connected to; where calls begin |
//! | `task` | a call under way |
//! | `call` | all calls, one match |
//! | `calls` | what they do, one file for each subject |
//! | `machine` | an instance as Nova describes it, as a blueprint |
//! | `journal` | which operation has which journal, and what is done with those that a dead process has left |
//! | `failure` | what went wrong, for Python to choose an exception by |

mod call;
mod calls;
mod connection;
mod failure;
mod journal;
mod machine;
mod task;

use pyo3::prelude::*;

/// The module that `landfall_powervm` imports.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::connection::Connection;
    #[pymodule_export]
    use super::task::Task;
}
