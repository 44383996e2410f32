//! The vocabulary that all platforms and mechanisms share. No I/O happens here.

mod environment;
mod error_chain;
mod error_class;
mod files;
mod infra_id;
mod machines;
mod preflight;
mod provider;
mod stage;
mod step;
pub mod survey;

pub use environment::Environment;
pub use error_chain::error_chain;
pub use error_class::ErrorClass;
pub use files::{File, FileSet, Mode};
pub use infra_id::{InfraId, InfraIdError};
pub use machines::{Listing, Machine, MachineRef, MachineSpec, Machines, Power, PowerState, Progress};
pub use preflight::{Finding, Preflight, Verdict};
pub use provider::{Connection, Endpoint, MachineProvider, ProviderCredentials, WantedMachine, same_provider_id};
pub use stage::{Stage, USER_DATA_TITLE, bootstrap_step, user_data_step};
pub use step::{Bind, Context, Discover, Kind, Notes, Outputs, Step, StepError, StepId, StepSpec};
