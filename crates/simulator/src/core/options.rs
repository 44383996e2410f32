//! The options that all simulators share.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::clock::{Pace, parse_duration};
use super::faults::Rule;
use super::server::Limits;

/// Where the API is served if nobody chooses.
const LISTEN: &str = "127.0.0.1:0";

/// Options that every simulator has; a platform's command flattens them into its own.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Simulator")]
pub struct Options {
    /// Address and port to serve the API on; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = LISTEN)]
    pub listen: String,

    /// Address and port of the admin endpoint (plain HTTP, no authentication: keep it on loopback)
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub admin_listen: String,

    /// Serve plain HTTP instead of HTTPS
    #[arg(long)]
    pub http: bool,

    /// Where the certificate authority is kept [default: beside --state, else a temporary directory]
    #[arg(long, value_name = "DIR")]
    pub ca_dir: Option<PathBuf>,

    /// Seed of everything random: ids, fault probabilities [default: 0, or that of the state file]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Simulated seconds per real second; 0 means a stepped clock
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = parse_scale)]
    pub time_scale: f64,

    /// Whether time passes by itself or only when the admin endpoint steps it
    #[arg(long, value_enum, default_value_t = ClockMode::Scaled)]
    pub clock: ClockMode,

    /// Keep the state in this file and go on from it after a restart
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// Append one JSON line per request to this file
    #[arg(long, value_name = "FILE")]
    pub log_requests: Option<PathBuf>,

    /// Let calls fail, for example 'POST /api/vms* nth=3 lost-reply'; may be repeated (grammar: docs/simulators.md)
    #[arg(long = "fault", value_name = "RULE")]
    pub faults: Vec<Rule>,

    /// Largest request body that is read, in bytes; larger ones get 413
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().body_bytes)]
    pub max_body: usize,

    /// How many connections are served at once; further ones wait
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections, value_parser = parse_connections)]
    pub max_connections: usize,

    /// How long a client may take to send the headers of a request, or idle between two
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_duration)]
    pub header_timeout: Duration,

    /// How long requests in flight may take to finish when the simulator is stopped
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = parse_duration)]
    pub stop_timeout: Duration,
}

/// Who moves the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ClockMode {
    /// Real time, times the scale.
    Scaled,
    /// The admin endpoint, or the test that embeds the simulator.
    Stepped,
}

impl Options {
    /// The same, for clients that do not reach loopback addresses, unless somebody chose where to serve.
    #[must_use]
    pub(crate) fn reachable_at(mut self, address: IpAddr) -> Self {
        if self.listen == LISTEN {
            self.listen = SocketAddr::new(address, 0).to_string();
        }
        self
    }

    /// How time passes with these options.
    pub fn pace(&self) -> Pace {
        if self.clock == ClockMode::Stepped || self.time_scale == 0.0 {
            Pace::Stepped
        } else {
            Pace::Scaled(self.time_scale)
        }
    }

    /// The limits of the listeners with these options.
    pub fn limits(&self) -> Limits {
        Limits {
            body_bytes: self.max_body,
            connections: self.max_connections,
            header_timeout: self.header_timeout,
            stop_timeout: self.stop_timeout,
            ..Limits::default()
        }
    }

    /// Where the authority is kept; `None` means a temporary directory.
    pub(super) fn authority_directory(&self) -> Option<PathBuf> {
        self.ca_dir.clone().or_else(|| self.state.as_ref().map(|state| state.with_extension("ca")))
    }
}

/// The same as without any flag on the command line.
impl Default for Options {
    fn default() -> Self {
        #[derive(clap::Parser)]
        struct Flags {
            #[command(flatten)]
            options: Options,
        }
        <Flags as clap::Parser>::parse_from(["simulator"]).options
    }
}

fn parse_scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale.is_finite() && (0.0..=1_000_000.0).contains(&scale) => Ok(scale),
        _ => Err("a time scale is a number from 0 (stepped) to 1000000".to_owned()),
    }
}

fn parse_connections(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (1..=100_000).contains(&number) => Ok(number),
        _ => Err("a number from 1 to 100000 is expected".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct Flags {
        #[command(flatten)]
        options: Options,
    }

    fn parse(flags: &[&str]) -> Result<Options, String> {
        let parsed = Flags::try_parse_from([&["simulator"], flags].concat());
        parsed.map(|flags| flags.options).map_err(|error| error.to_string())
    }

    #[test]
    fn the_flags_are_consistent() {
        Flags::command().debug_assert();
    }

    #[test]
    fn defaults_are_those_of_the_limits() {
        let (given, default) = (Options::default().limits(), Limits::default());
        assert_eq!(format!("{given:?}"), format!("{default:?}"));
    }

    #[test]
    fn there_are_two_ways_to_ask_for_a_stepped_clock() {
        assert_eq!(parse(&["--clock", "stepped", "--time-scale", "9"]).unwrap().pace(), Pace::Stepped);
        assert_eq!(parse(&["--time-scale", "0"]).unwrap().pace(), Pace::Stepped);
        assert_eq!(parse(&["--time-scale", "1000"]).unwrap().pace(), Pace::Scaled(1000.0));
        assert_eq!(parse(&[]).unwrap().pace(), Pace::Scaled(1.0));
    }

    #[test]
    fn the_authority_lives_beside_the_state_unless_told_otherwise() {
        let directory = |flags: &[&str]| parse(flags).unwrap().authority_directory();
        assert_eq!(directory(&[]), None);
        assert_eq!(directory(&["--state", "lab/ovirt.json"]), Some("lab/ovirt.ca".into()));
        assert_eq!(directory(&["--state", "lab/ovirt.json", "--ca-dir", "pki"]), Some("pki".into()));
    }

    #[test]
    fn mistakes_are_explained() {
        for (flags, message) in [
            (["--fault", "GET /a rest"], "unknown word 'rest'; known are nth=N"),
            (["--time-scale", "-1"], "a time scale is a number from 0 (stepped) to 1000000"),
            (["--header-timeout", "long"], "invalid value 'long' for '--header-timeout <DURATION>'"),
            (["--max-connections", "0"], "a number from 1 to 100000 is expected"),
        ] {
            let error = parse(&[&format!("{}={}", flags[0], flags[1])]).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
