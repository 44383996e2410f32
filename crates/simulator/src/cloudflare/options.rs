//! The command line of the simulator.

/// Options of `landfall sim cloudflare`.
#[derive(Clone, Debug, clap::Args)]
// The group's name is that of the type by default, which is also that of the options flattened below.
#[group(id = "cloudflare")]
pub struct Options {
    /// A zone of the account; may be repeated
    #[arg(long = "zone", value_name = "NAME", default_value = "example.com")]
    pub zones: Vec<String>,

    /// The API token that may edit
    #[arg(long, value_name = "TOKEN", env = "LANDFALL_SIM_TOKEN", hide_env_values = true)]
    pub token: Option<String>,

    /// An API token that may only read
    #[arg(long, value_name = "TOKEN")]
    pub read_token: Option<String>,

    #[command(flatten)]
    #[allow(missing_docs, reason = "clap would show a comment here as a heading")]
    pub simulator: crate::core::Options,
}

impl Options {
    /// The token that may edit: the one given, or one that says what it is.
    pub fn edit_token(&self) -> &str {
        self.token.as_deref().unwrap_or("landfall-simulator-token-0123456789abcdef")
    }
}
