//! What kind of failure an error is, for those who decide what to do about it.

/// What kind of failure an error is.
///
/// Retry, exit code and hint are decided by class, never by the text of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// It may be gone at the next attempt: no connection, a reply lost, a server in trouble.
    Transient,
    /// Too many requests; an attempt after a pause may succeed.
    Throttled,
    /// Something else is at work on the object; an attempt after a while may succeed.
    Locked,
    /// The credentials are wrong, expired or not sufficient.
    Auth,
    /// The object does not exist.
    NotFound,
    /// The request can never succeed as it is: a wrong value, a wrong address, a server that is not trusted.
    Invalid,
    /// The platform has no room for it: quota, memory, storage.
    Capacity,
}
