//! The compute core on simulated hosts.

mod config_drive;
mod console;
mod crowd;
mod departure;
mod encrypted_console;
mod fibre_migration;
mod inventory;
mod journal;
mod killed;
mod leftovers;
mod migration;
mod network;
mod power;
mod resize;
mod rollback;
mod scrub;
mod spawn;
mod stage;
mod suites;
mod unwind;
mod volume;
mod watch;
