//! An oVirt engine, version 4 of its REST API.

pub mod imageio;
