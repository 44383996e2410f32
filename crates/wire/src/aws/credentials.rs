//! Credentials, where AWS tools keep them: environment variables, then the files of a profile.
//!
//! Keys (with a session token or without) are understood. Profiles that lead to other programs, to single sign-on or to roles
//! are not: the error says how to turn them into keys.

use std::{collections::BTreeMap, path::PathBuf};

use landfall_platform::Environment;
use secrecy::SecretString;

/// Who is asking.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// Id of the key.
    pub key_id: String,
    /// The key.
    pub secret_key: SecretString,
    /// Belongs to keys that are lent.
    pub session_token: Option<SecretString>,
}

/// There are no credentials.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoCredentials(pub String);

impl Credentials {
    /// Looks in all the usual places.
    pub fn find(environment: &Environment) -> Result<Self, NoCredentials> {
        let variable = |name: &str| environment.get(name).and_then(|value| value.to_str()).map(str::to_owned);
        if variable("AWS_PROFILE").is_none()
            && let (Some(key_id), Some(secret)) = (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"))
        {
            let session_token = variable("AWS_SESSION_TOKEN").map(Into::into);
            return Ok(Self { key_id, secret_key: secret.into(), session_token });
        }
        let profile = variable("AWS_PROFILE").unwrap_or_else(|| "default".to_owned());
        let file = |name: &str, usual: &str| {
            let given = environment.get(name).map(PathBuf::from);
            given.or_else(|| Some(environment.home()?.join(".aws").join(usual)))
        };
        let files = [
            (file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), profile.clone()),
            (file("AWS_CONFIG_FILE", "config"), config_section(&profile)),
        ];
        let mut settings = BTreeMap::new();
        for (path, section) in &files {
            let text = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
            for (name, value) in section_of(&text, section) {
                settings.entry(name).or_insert(value);
            }
        }
        Self::of(settings, &profile)
    }

    fn of(mut settings: BTreeMap<String, String>, profile: &str) -> Result<Self, NoCredentials> {
        let other = ["credential_process", "sso_session", "sso_start_url", "role_arn"];
        let other = other.into_iter().find(|name| settings.contains_key(*name));
        match (settings.remove("aws_access_key_id"), settings.remove("aws_secret_access_key"), other) {
            (Some(key_id), Some(secret), None) => Ok(Self {
                key_id,
                secret_key: secret.into(),
                session_token: settings.remove("aws_session_token").map(Into::into),
            }),
            (_, _, Some(other)) => Err(NoCredentials(format!(
                "the profile '{profile}' uses {other}, which is not understood here; \
                 'aws configure export-credentials --format env' turns it into variables"
            ))),
            _ => Err(NoCredentials(format!(
                "neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY nor the profile '{profile}' in \
                 ~/.aws/credentials or ~/.aws/config has keys"
            ))),
        }
    }
}

fn config_section(profile: &str) -> String {
    if profile == "default" { profile.to_owned() } else { format!("profile {profile}") }
}

/// The settings of one section of a file. Nested settings, which are indented, are not for us.
fn section_of(text: &str, wanted: &str) -> Vec<(String, String)> {
    let mut inside = false;
    let mut settings = Vec::new();
    for line in text.lines() {
        if let Some(section) = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            inside = section.split_whitespace().eq(wanted.split_whitespace());
        } else if let (true, Some((name, value))) =
            (inside && !line.starts_with([' ', '\t', '#', ';']), line.split_once('='))
        {
            settings.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    fn home(credentials: &str, config: &str) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        std::fs::write(home.path().join(".aws/credentials"), credentials).unwrap();
        std::fs::write(home.path().join(".aws/config"), config).unwrap();
        home
    }

    fn find(home: &tempfile::TempDir, variables: &[(&str, &str)]) -> Result<Credentials, NoCredentials> {
        let home = ("HOME", home.path().to_str().unwrap());
        Credentials::find(&variables.iter().copied().chain([home]).collect())
    }

    #[test]
    fn variables_go_before_files_unless_a_profile_is_named() {
        let home = home(
            "[default]\naws_access_key_id = FILE\naws_secret_access_key = s1\n[lab]\naws_access_key_id=LAB\naws_secret_access_key=s2\n",
            "[profile lab]\nregion = eu-central-1\naws_session_token = t\n",
        );
        let keys = [("AWS_ACCESS_KEY_ID", "ENV"), ("AWS_SECRET_ACCESS_KEY", "s3")];
        assert_eq!(find(&home, &keys).unwrap().key_id, "ENV");
        assert_eq!(find(&home, &[]).unwrap().key_id, "FILE");
        let lab = find(&home, &[keys[0], keys[1], ("AWS_PROFILE", "lab")]).unwrap();
        assert_eq!((lab.key_id.as_str(), lab.secret_key.expose_secret()), ("LAB", "s2"));
        assert_eq!(lab.session_token.unwrap().expose_secret(), "t");
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let home = home("", "[profile sso]\nsso_session = corp\n[default]\nregion = us-east-1\n");
        let message = |variables: &[(&str, &str)]| find(&home, variables).err().unwrap().to_string();
        assert!(message(&[("AWS_PROFILE", "sso")]).contains("export-credentials"), "{}", message(&[]));
        assert!(message(&[]).contains("AWS_ACCESS_KEY_ID"), "{}", message(&[]));
    }
}
