//! Whom a client trusts.

/// Whose certificates a client accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Those that the operating system trusts.
    System,
    /// Only those issued by the CAs in this PEM text. The system's are left out: who pins a CA means that one.
    Only(String),
    /// Anybody's. Only for fetching what is shown to the user and confirmed before it is used, and for users whose own
    /// configuration says so.
    Unverified,
}
