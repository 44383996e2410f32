//! Tests of the engine as a whole, through the same door as its clients.

mod crawl;
mod faults;
mod hostile;
mod lab;
mod lives;
mod properties;
mod restart;
mod searches;
mod sessions;
