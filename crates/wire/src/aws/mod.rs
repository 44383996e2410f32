//! Calls of services that take signatures of AWS: Route 53, and object stores that speak S3.

mod credentials;
mod signature;

pub use credentials::{Credentials, NoCredentials};
pub use signature::{Call, Scope, presigned, query, sign};
