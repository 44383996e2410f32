//! What must stay the same from the first run to the last: authorities, keys and tokens.

mod cluster;
mod storage;
mod token;

pub use cluster::Secrets;
pub use token::Token;
