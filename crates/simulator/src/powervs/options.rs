//! The command line of the simulator.

use std::time::Duration;

use super::knobs::{Delay, Kind, Limited, Outcome, OutcomeRule, PublicObject, Quota};
use crate::core::clock::parse_duration;

/// Options of `landfall sim powervs`.
#[derive(Clone, Debug, clap::Args)]
// The group's name is that of the type by default, which is also that of the options flattened below.
#[group(id = "powervs")]
pub struct Options {
    /// The API key of the account's owner
    #[arg(long, value_name = "KEY", env = "LANDFALL_SIM_API_KEY", hide_env_values = true)]
    pub api_key: Option<String>,

    /// How long IAM's tokens are good for, in simulated time
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = parse_duration)]
    pub token_lifetime: Duration,

    /// A domain that the account has in Internet Services and in DNS Services; may be repeated [default: example.com]
    #[arg(long = "dns-zone", value_name = "DOMAIN")]
    pub dns_zones: Vec<String>,

    /// Address and port of the name server that answers for these domains and for load balancers; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub dns_listen: String,

    /// How long something takes: KIND=DURATION; may be repeated (kinds: docs/simulators.md)
    #[arg(long = "delay", value_name = "RULE")]
    pub delays: Vec<Delay>,

    /// Let what is called NAME come to something else: 'KIND NAME failed|failed-once|stuck|leaves-interface'; may be repeated
    #[arg(long = "outcome", value_name = "RULE")]
    pub outcomes: Vec<OutcomeRule>,

    /// How many the account may have: vpcs|load-balancers|transit-gateways|dhcp|instances=N; may be repeated
    #[arg(long = "quota", value_name = "RULE")]
    pub quotas: Vec<Quota>,

    /// An object that everybody may read: REGION/BUCKET/KEY; may be repeated
    #[arg(long = "public-object", value_name = "RULE")]
    pub public_objects: Vec<PublicObject>,

    /// Largest user data that is taken, in bytes of base64
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
    /// The key of the account's owner: the one given, or one that says what it is.
    pub fn owner_key(&self) -> &str {
        self.api_key.as_deref().unwrap_or("landfall-simulator-api-key-0123456789")
    }

    /// The domains of the account.
    pub fn domains(&self) -> Vec<String> {
        if self.dns_zones.is_empty() { vec!["example.com".to_owned()] } else { self.dns_zones.clone() }
    }

    pub(super) fn delay(&self, kind: Kind) -> Duration {
        let own = self.delays.iter().rev().find(|delay| delay.kind == kind);
        own.map_or_else(|| kind.usual(), |delay| delay.takes)
    }

    pub(super) fn quota(&self, of: Limited) -> usize {
        let own = self.quotas.iter().rev().find(|quota| quota.of == of);
        own.map_or_else(|| of.usual(), |quota| quota.most)
    }

    pub(super) fn outcome(&self, kind: Kind, name: &str) -> Option<Outcome> {
        let rule = self.outcomes.iter().find(|rule| rule.kind == kind && name.contains(&rule.name));
        rule.map(|rule| rule.outcome)
    }

    /// How many simulated seconds pass in a real one; nothing if the clock is stepped.
    pub(super) fn scale(&self) -> Option<f64> {
        match self.simulator.pace() {
            crate::core::clock::Pace::Scaled(scale) => Some(scale),
            crate::core::clock::Pace::Stepped => None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Flags {
        #[command(flatten)]
        options: Options,
    }

    pub(crate) fn options(flags: &[&str]) -> Options {
        Flags::try_parse_from([&["sim"], flags].concat()).unwrap().options
    }

    #[test]
    fn the_flags_are_consistent() {
        Flags::command().debug_assert();
        let options = options(&["--delay", "image=5s", "--outcome", "dhcp demo failed", "--quota", "dhcp=2"]);
        assert_eq!(options.delay(Kind::Image), Duration::from_secs(5));
        assert_eq!(options.delay(Kind::Dhcp), Duration::from_mins(5));
        assert_eq!(options.outcome(Kind::Dhcp, "demo-network"), Some(Outcome::Failed));
        assert_eq!((options.quota(Limited::Dhcp), options.quota(Limited::Vpcs)), (2, 10));
        assert_eq!(options.domains(), ["example.com"]);
    }

    #[test]
    fn mistakes_are_explained() {
        for (flag, message) in [
            ("--delay=image", "KIND=DURATION"),
            ("--delay=picture=5s", "'picture' is none of workspace"),
            ("--outcome=dhcp failed", "KIND NAME failed"),
            ("--quota=tables=5", "a quota is written"),
            ("--public-object=bucket", "REGION/BUCKET/KEY"),
        ] {
            let error = Flags::try_parse_from(["sim", flag]).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
