//! containerd's configuration, and the registries that stand in for others.

use askama::Template;
use indexmap::IndexMap;
use landfall_config::{ImageMirror, InstallConfig};

use super::{NodeFile, PAUSE_IMAGE, paths};
use crate::{Error, template};

/// containerd's files. Credentials of registries are the kubelet's business, which hands them over with each pull.
pub(super) fn files(config: &InstallConfig) -> Result<Vec<NodeFile>, Error> {
    let main = template::text(&Configuration {
        pause_image: PAUSE_IMAGE,
        cni_programs: paths::CNI_PROGRAMS,
        cni_config: paths::CNI_CONFIG,
        programs: paths::PROGRAMS,
    });
    let mut files = vec![NodeFile::public("/etc/containerd/config.toml", main)];
    for (registry, mirrors) in mirrors_by_registry(&config.image_mirrors)? {
        let hosts = template::text(&Hosts { server: &upstream(&registry), mirrors });
        files.push(NodeFile::public(format!("/etc/containerd/certs.d/{registry}/hosts.toml"), hosts));
    }
    Ok(files)
}

#[derive(Template)]
#[template(path = "containerd.toml", escape = "none")]
struct Configuration {
    pause_image: &'static str,
    cni_programs: &'static str,
    cni_config: &'static str,
    programs: &'static str,
}

#[derive(Template)]
#[template(path = "hosts.toml", escape = "none")]
struct Hosts<'a> {
    server: &'a str,
    mirrors: Vec<String>,
}

/// Where a registry really is. Only the oldest of them is not where its name says.
fn upstream(registry: &str) -> String {
    match registry {
        "docker.io" => "https://registry-1.docker.io".to_owned(),
        other => format!("https://{other}"),
    }
}

/// The base URLs of the mirrors of each registry, in the user's order.
///
/// containerd redirects whole registries and keeps the path below them. A mirror of a part of a registry can therefore be
/// expressed only if its own path ends like that of the part.
fn mirrors_by_registry(image_mirrors: &[ImageMirror]) -> Result<IndexMap<String, Vec<String>>, Error> {
    let mut registries: IndexMap<String, Vec<String>> = IndexMap::new();
    for ImageMirror { source, mirrors } in image_mirrors {
        let (registry, part) = split(source);
        let bases = registries.entry(registry.to_owned()).or_default();
        for mirror in mirrors {
            let (host, path) = split(mirror);
            let base = strip_path_suffix(path, part)
                .ok_or_else(|| Error::ImageMirror { source_name: source.clone(), mirror: mirror.clone() })?;
            let url = format!("https://{host}/v2/{base}").trim_end_matches('/').to_owned();
            if !bases.contains(&url) {
                bases.push(url);
            }
        }
    }
    Ok(registries)
}

fn split(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or((name, ""))
}

/// A path without a trailing part of it, whole components only.
fn strip_path_suffix<'a>(path: &'a str, part: &str) -> Option<&'a str> {
    let rest = path.strip_suffix(part)?;
    if part.is_empty() || rest.is_empty() { Some(rest) } else { rest.strip_suffix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases(source: &str, mirror: &str) -> Result<Vec<String>, Error> {
        let mirror = ImageMirror { source: source.to_owned(), mirrors: vec![mirror.to_owned()] };
        mirrors_by_registry(&[mirror]).map(|registries| registries.into_values().flatten().collect())
    }

    #[test]
    fn a_registry_can_be_mirrored_anywhere() {
        assert_eq!(bases("registry.k8s.io", "mirror:5000").unwrap(), ["https://mirror:5000/v2"]);
        assert_eq!(bases("registry.k8s.io", "mirror:5000/a/b").unwrap(), ["https://mirror:5000/v2/a/b"]);
    }

    #[test]
    fn a_part_of_a_registry_can_be_mirrored_under_its_own_name() {
        assert_eq!(bases("quay.io/org", "mirror/quay/org").unwrap(), ["https://mirror/v2/quay"]);
        assert_eq!(bases("quay.io/org", "mirror/org").unwrap(), ["https://mirror/v2"]);
        for wrong in ["mirror/other", "mirror/xorg", "mirror"] {
            let error = bases("quay.io/org", wrong).unwrap_err();
            assert!(error.to_string().contains(wrong), "{error}");
        }
    }
}
