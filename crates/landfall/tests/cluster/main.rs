//! Whole clusters: the real program, as a child process that can be killed, against a simulated engine in this process, which
//! can be looked into, asked what it was called with, and told to let calls hang or fail.
//!
//! | module | what it is about |
//! |---|---|
//! | [`whole`] | from an install-config to nodes and back to nothing |
//! | [`kills`] | `kill -9` at every call and every record, of creation and of removal |
//! | [`deaths`] | `kill -9` several times over, on every platform |
//! | [`frozen`] | what was handed out to machines stays what it was |
//! | [`interrupts`] | Ctrl-C |
//! | [`failures`] | what cannot work, and what is left of it |
//! | [`neighbours`] | several clusters in one engine, and lost install directories |
//! | [`records`] | public DNS, on a real BIND |
//! | [`packet`] | whole installations on Packet |
//! | [`powervm`] | whole installations on PowerVM |
//! | [`powervs`] | whole installations on PowerVS |
//! | [`secrets`] | where secrets are, and where not |
//! | [`standing`] | where an installation stands, at all its stages |
//! | [`events`] | what programs read |
//! | [`gathering`] | what is collected of a cluster that does not come up |
//! | [`demo`] | the demonstration |
//! | [`company`] | other commands beside an installation |
//! | [`book`] | what the book shows |
//! | [`survey`] | from the questions to the configs |

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test that panics or prints says where and why")]

mod book;
mod company;
#[path = "../cli/context.rs"]
#[allow(dead_code, reason = "shared with the tests of the commands, which need more of it")]
mod context;
mod deaths;
mod demo;
mod engine;
mod events;
mod failures;
mod frozen;
mod gathering;
mod install;
mod interrupts;
mod inventory;
mod kills;
mod neighbours;
#[path = "../../../simulator/tests/guests/network.rs"]
mod network;
mod packet;
mod place;
mod pods;
mod powervm;
mod powervs;
mod process;
mod records;
mod secrets;
mod standing;
mod survey;
#[path = "../terminal/mod.rs"]
#[allow(dead_code, reason = "shared with the tests of the survey, which need more of it")]
mod terminal;
mod waiting;
mod whole;
