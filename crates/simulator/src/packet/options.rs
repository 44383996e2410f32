//! The command line of the simulator.

use std::time::Duration;

use super::knobs::{Capacity, OutcomeRule, Reserved, SpotPrice};
use crate::core::clock::parse_duration;

/// Options of `landfall sim packet`.
#[derive(Clone, Debug, clap::Args)]
// The group's name is that of the type by default, which is also that of the options flattened below.
#[group(id = "packet")]
pub struct Options {
    /// The API key of a user who may do everything
    #[arg(long, value_name = "KEY", env = "LANDFALL_SIM_API_KEY", hide_env_values = true)]
    pub api_key: Option<String>,

    /// An API key that may only read
    #[arg(long, value_name = "KEY")]
    pub read_only_key: Option<String>,

    /// An API key of the first project alone; creating an SSH key with it succeeds and is answered with 404, as it was
    #[arg(long, value_name = "KEY")]
    pub project_key: Option<String>,

    /// How many servers of a plan a location has: LOCATION/PLAN=N; may be repeated [default: 1000 of each]
    #[arg(long = "capacity", value_name = "RULE")]
    pub capacity: Vec<Capacity>,

    /// The status of an answer for want of servers: 422, or 503 as some saw it
    #[arg(long, value_name = "STATUS", default_value = "422", value_parser = clap::value_parser!(u16).range(400..600))]
    pub no_capacity_status: u16,

    /// Hardware that the first project has reserved: PLAN@LOCATION; may be repeated
    #[arg(long = "hardware-reservation", value_name = "RULE")]
    pub hardware_reservations: Vec<Reserved>,

    /// How long reserved hardware is unusable after its device was deleted
    #[arg(long, value_name = "DURATION", default_value = "4m", value_parser = parse_duration)]
    pub deprovision_time: Duration,

    /// A price on the spot market: LOCATION/PLAN=PRICE; may be repeated [default: a fifth of the list price]
    #[arg(long = "spot-price", value_name = "RULE")]
    pub spot_prices: Vec<SpotPrice>,

    /// Let devices whose hostname contains NAME come to nothing: 'NAME failed|stuck'; may be repeated
    #[arg(long = "device-outcome", value_name = "RULE")]
    pub outcomes: Vec<OutcomeRule>,

    /// How many devices a project may have
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub max_devices: usize,

    /// How many elastic IPv4 addresses a project gets without somebody's approval
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub max_elastic: usize,

    /// Largest user data that is taken, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 65536)]
    pub max_userdata: usize,

    #[command(flatten)]
    #[allow(missing_docs, reason = "clap would show a comment here as a heading")]
    pub guests: crate::guests::Options,

    #[command(flatten)]
    #[allow(missing_docs, reason = "clap would show a comment here as a heading")]
    pub simulator: crate::core::Options,
}

impl Options {
    /// The key that may do everything: the one given, or one that says what it is.
    pub fn user_key(&self) -> &str {
        self.api_key.as_deref().unwrap_or("landfall-simulator-api-key-0123456789")
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Flags {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn the_flags_are_consistent() {
        Flags::command().debug_assert();
        let flags = ["sim", "--capacity", "da/c3.small.x86=2", "--hardware-reservation", "c3.small.x86@da"];
        let options = Flags::try_parse_from(flags).unwrap().options;
        assert_eq!((options.capacity[0].servers, options.hardware_reservations[0].location.as_str()), (2, "da"));
    }

    #[test]
    fn mistakes_are_explained() {
        for (flag, message) in [
            ("--capacity=da", "LOCATION/PLAN=N"),
            ("--spot-price=da/x=cheap", "LOCATION/PLAN=PRICE"),
            ("--hardware-reservation=x", "PLAN@LOCATION"),
            ("--device-outcome=master explodes", "NAME failed|stuck"),
        ] {
            let error = Flags::try_parse_from(["sim", flag]).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
