//! What `openshift-install version` says.

use landfall_config::InstallConfig;

use super::Error;

/// The first minor version of OpenShift 4 whose installer knows platform `external`.
const FIRST_MINOR: u64 = 14;

/// Which release a program renders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionInfo {
    /// Version of the program and of the release it belongs to, for example `4.22.0`.
    pub version: String,
    /// Commit that it was built from.
    pub commit: Option<String>,
    /// The release image that it installs.
    pub release_image: Option<String>,
    /// Architecture of the release image: `amd64`, `arm64`, `ppc64le`, `multi` or `unknown`.
    pub architecture: Option<String>,
}

impl VersionInfo {
    /// Reads the output of `openshift-install version`, or nothing if some other program wrote it. Lines that are not known
    /// are passed over, since new releases add some.
    pub fn parse(output: &str) -> Option<Self> {
        let mut lines = output.lines();
        // The line begins with the path that the program was called by, which may contain blanks; the version has none.
        let (program, version) = lines.next()?.trim().rsplit_once(' ')?;
        let mut recognised = program.contains("openshift-install");
        let mut info = Self { version: version.to_owned(), commit: None, release_image: None, architecture: None };
        for line in lines {
            let known = [
                ("built from commit ", &mut info.commit),
                ("release image ", &mut info.release_image),
                ("release architecture ", &mut info.architecture),
            ];
            for (label, field) in known {
                if let Some(value) = line.trim().strip_prefix(label) {
                    *field = Some(value.trim().to_owned());
                    recognised = true;
                }
            }
        }
        recognised.then_some(info)
    }

    /// The release image.
    pub(super) fn image(&self) -> Result<&str, Error> {
        self.release_image.as_deref().ok_or_else(|| Error::NoReleaseImage { version: self.version.clone() })
    }

    /// Checks that this is the release the install-config asks for, and one that Landfall can use.
    pub fn check(&self, config: &InstallConfig) -> Result<(), Error> {
        if let Some(wanted) = &config.version
            && wanted.trim_start_matches('v') != self.version.trim_start_matches('v')
        {
            return Err(Error::WrongVersion { wanted: wanted.clone(), found: self.version.clone() });
        }
        match self.release() {
            Some((4, minor)) if minor < FIRST_MINOR => Err(Error::TooOld { found: self.version.clone() }),
            _ => Ok(()),
        }
    }

    /// Major and minor version; builds from a branch call themselves by other names.
    fn release(&self) -> Option<(u64, u64)> {
        let mut numbers = self.version.trim_start_matches('v').split('.').map(|part| part.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openshift::testing;

    const RELEASED: &str = "./openshift-install 4.22.0\n\
        built from commit 1966debed4edaf2c283341b0e99134ecb19ec317\n\
        release image quay.io/openshift-release-dev/ocp-release@sha256:0123\n\
        release architecture amd64\n";

    #[test]
    fn reads_what_a_release_prints() {
        let info = VersionInfo::parse(RELEASED).expect("a version");
        assert_eq!(info.version, "4.22.0");
        assert_eq!(info.commit.as_deref(), Some("1966debed4edaf2c283341b0e99134ecb19ec317"));
        assert_eq!(info.release_image.as_deref(), Some("quay.io/openshift-release-dev/ocp-release@sha256:0123"));
        assert_eq!(info.architecture.as_deref(), Some("amd64"));
    }

    #[test]
    fn reads_what_okd_and_unreleased_builds_print() {
        let okd = VersionInfo::parse("openshift-install 4.20.0-okd-scos.3\nrelease architecture amd64\n").expect("okd");
        assert_eq!((okd.version.as_str(), okd.release()), ("4.20.0-okd-scos.3", Some((4, 20))));
        let built = "/opt/my tools/openshift-install unreleased-master-9-g1966deb\nrelease architecture unknown\n\
            default architecture amd64\n";
        let built = VersionInfo::parse(built).expect("own build");
        assert_eq!((built.version.as_str(), built.release()), ("unreleased-master-9-g1966deb", None));
        assert_eq!(built.release_image, None);
    }

    #[test]
    fn is_not_fooled_by_another_program() {
        assert_eq!(VersionInfo::parse(""), None);
        assert_eq!(VersionInfo::parse("usage:\n"), None);
        assert_eq!(VersionInfo::parse("Client Version: v1.36.4\n"), None);
        let renamed = VersionInfo::parse("/opt/oi 4.22.0\nrelease architecture amd64\n").expect("a renamed program");
        assert_eq!(renamed.version, "4.22.0");
    }

    #[test]
    fn checks_the_version_that_the_user_asked_for() {
        let info = VersionInfo::parse(RELEASED).expect("a version");
        let mut config = testing::config();
        config.version = None;
        info.check(&config).expect("no version asked for");
        config.version = Some("4.22.0".to_owned());
        info.check(&config).expect("the same version");
        config.version = Some("4.21.9".to_owned());
        let error = info.check(&config).expect_err("another version").to_string();
        assert!(error.contains("4.21.9") && error.contains("4.22.0"), "{error}");
    }

    #[test]
    fn refuses_releases_without_the_platform() {
        let old = VersionInfo::parse("openshift-install 4.13.59\n").expect("a version");
        assert!(matches!(old.check(&testing::config()), Err(Error::TooOld { .. })));
        for known in ["4.14.0", "5.0.1", "unreleased-master-9"] {
            let info = VersionInfo::parse(&format!("openshift-install {known}\n")).expect("a version");
            info.check(&testing::config()).unwrap_or_else(|error| panic!("{known}: {error}"));
        }
    }
}
