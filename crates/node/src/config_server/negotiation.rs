//! Which Ignition spec a client reads, from its `Accept` header.

/// The spec of the configs that are served.
pub(super) const SERVED: (u64, u64) = (3, 3);

const MEDIA_TYPE: &str = "application/vnd.coreos.ignition+json";

/// Whether a client with this `Accept` header reads what is served.
///
/// Ignition names the newest spec that it knows (`…;version=3.3.0, */*;q=0.1`) and reads all older ones of the same major
/// version. A client that names none, such as curl, is served.
pub(super) fn reads_served(accept: Option<&str>) -> bool {
    let mut named = false;
    for version in accept.into_iter().flat_map(versions) {
        named = true;
        if version.0 == SERVED.0 && version.1 >= SERVED.1 {
            return true;
        }
    }
    !named
}

/// The spec versions that a header names.
fn versions(accept: &str) -> impl Iterator<Item = (u64, u64)> {
    accept.split(',').filter_map(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        if !parts.next()?.eq_ignore_ascii_case(MEDIA_TYPE) {
            return None;
        }
        let version = parts.find_map(|part| part.strip_prefix("version="))?.trim_matches('"');
        let mut numbers = version.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::reads_served;

    #[test]
    fn ignition_is_served_what_it_reads() {
        for accept in [
            "application/vnd.coreos.ignition+json;version=3.3.0, */*;q=0.1",
            "application/vnd.coreos.ignition+json;version=3.5.0, */*;q=0.1",
            "application/vnd.coreos.ignition+json; version=3.4.0",
            "*/*",
            "application/vnd.coreos.ignition+json",
        ] {
            assert!(reads_served(Some(accept)), "{accept}");
        }
        assert!(reads_served(None));
    }

    #[test]
    fn an_ignition_that_cannot_read_it_is_not() {
        for accept in [
            "application/vnd.coreos.ignition+json;version=3.2.0, */*;q=0.1",
            "application/vnd.coreos.ignition+json;version=2.3.0",
            "application/vnd.coreos.ignition+json;version=4.0.0",
        ] {
            assert!(!reads_served(Some(accept)), "{accept}");
        }
    }
}
