//! The API key and what belongs to it. DNS of the same account needs it, too, so it is read in a place that both see.

pub use landfall_wire::ibm_cloud::Credentials;
