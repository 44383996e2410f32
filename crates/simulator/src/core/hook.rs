//! A test's hook: it is called, and awaited, before each call that a simulator answers.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;

/// A call that was taken in and is not answered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The service that it is for: `api`, or the name of one that the platform has beside it.
    pub service: &'static str,
    /// The method, upper case.
    pub method: String,
    /// The path as sent, without the query.
    pub path: String,
}

/// Acts before a call is answered. Calls that come side by side run it side by side.
///
/// It acts on the simulation itself, through [`World::with`](super::World::with). What it does there passes no listener, so it never
/// runs the hook again. If the client leaves meanwhile, the hook is cut off at its next await.
pub type Hook = Arc<dyn Fn(Call) -> BoxFuture<'static, ()> + Send + Sync>;

/// The hook, if there is one.
#[derive(Default)]
pub(super) struct Hooked(Mutex<Option<Hook>>);

impl Hooked {
    pub(super) fn set(&self, hook: Option<Hook>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = hook;
    }

    /// Runs the hook for a call.
    pub(super) async fn run(&self, call: impl FnOnce() -> Call) {
        let hook = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(hook) = hook {
            hook(call()).await;
        }
    }
}
