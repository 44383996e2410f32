//! OpenShift and OKD through a stand-in for the release's own installer, which treats files as the real one does, and
//! through the real one where there is one.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]

#[path = "openshift/environment.rs"]
mod environment;
#[path = "openshift/ignition.rs"]
mod ignition;
#[path = "openshift/inputs.rs"]
mod inputs;
#[path = "openshift/machines.rs"]
mod machines;
#[path = "openshift/manifests.rs"]
mod manifests;
#[path = "openshift/real.rs"]
mod real;
