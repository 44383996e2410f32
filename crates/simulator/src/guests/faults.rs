//! Guests that misbehave.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A way in which guests with certain names misbehave. As text: a part of the name, and the effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestFault {
    /// Which machines: all whose name contains this.
    pub name: String,
    /// What is wrong with them.
    pub effect: GuestEffect,
}

/// What may be wrong with a guest. It counts from the machine's next start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestEffect {
    /// The machine is on, and nothing ever happens.
    NeverBoots,
    /// The guest works, and its agent tells the platform nothing.
    SilentAgent,
    /// Everything that the guest does by itself takes so many times longer.
    Slow(f64),
}

impl FromStr for GuestFault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut words = text.split_whitespace();
        let (Some(name), Some(effect), None) = (words.next(), words.next(), words.next()) else {
            return Err("a rule is a part of a name and an effect, for example 'master-1 never-boots'".to_owned());
        };
        Ok(Self { name: name.to_owned(), effect: effect.parse()? })
    }
}

impl FromStr for GuestEffect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let slowness =
            || text.strip_prefix("slow=")?.parse::<f64>().ok().filter(|factor| factor.is_finite() && *factor > 0.0);
        match text {
            "never-boots" => Ok(Self::NeverBoots),
            "silent-agent" => Ok(Self::SilentAgent),
            _ => slowness()
                .map(Self::Slow)
                .ok_or_else(|| format!("'{text}' is none of never-boots, silent-agent and slow=N")),
        }
    }
}
