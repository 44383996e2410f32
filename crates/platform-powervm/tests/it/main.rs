//! The client against simulated hosts, and the XML tree against everything.

mod calls;
mod faults;
mod jobs;
mod recorded;
mod scene;
mod tree;
mod uploads;
