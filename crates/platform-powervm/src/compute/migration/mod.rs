//! Moving partitions to another server: while they run, or while they do not.

mod checks;
mod cold;
mod fibre;
mod halves;
mod live;

pub use cold::{confirm_migration, migrate, revert_migration};
pub use fibre::{Berth, ComingPort};
pub use halves::{
    Departure, Destination, Prepared, await_arrival, check_departure, depart, end_departure, settle_arrival,
};
pub(super) use live::Move;
pub use live::{Peer, abort_migration, live_migrate, public_key, recover_migration};
