//! Panics as outcomes: a defect met at one object must not end the work on all others.

use std::{any::Any, future::Future, panic::AssertUnwindSafe};

use futures::FutureExt as _;

#[cfg(panic = "abort")]
compile_error!("a panic at one object would end the controller for all: build with panic = \"unwind\"");

/// Runs a future to its end. Returns the message of the panic if it panics.
///
/// Shared state of the future is behind mutexes, and a poisoned mutex is an error of its own: unwinding leaves no broken state behind.
pub(crate) async fn caught<T>(future: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(future).catch_unwind().await.map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    said.unwrap_or("without a message").to_owned()
}
