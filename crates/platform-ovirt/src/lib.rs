//! platform-ovirt
