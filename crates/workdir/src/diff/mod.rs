//! What changed in a file, without giving away what must not be seen.

mod ignition;

use landfall_platform::{File, Mode};
use similar::TextDiff;

/// The difference between what lies on disk and what would take its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Line by line, as a unified diff.
    Text(String),
    /// The parts that differ, with a sign each: `+` added, `-` gone, `~` different. Their contents may be secret.
    Parts(Vec<String>),
    /// It differs, and is secret as a whole.
    Secret,
    /// It is no longer part of the stage.
    Gone,
}

/// How much of a file may be shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Disclosure {
    Lines,
    IgnitionParts,
    Nothing,
}

/// Compares a file with what would take its place.
pub fn difference(path: &str, on_disk: &File, rendered: Option<&File>) -> Difference {
    let Some(rendered) = rendered else { return Difference::Gone };
    match disclosure(path, [on_disk, rendered]) {
        Disclosure::Lines => lines(path, on_disk, rendered),
        Disclosure::IgnitionParts => {
            ignition::changed_parts(&on_disk.contents, &rendered.contents).map_or(Difference::Secret, Difference::Parts)
        }
        Disclosure::Nothing => Difference::Secret,
    }
}

fn disclosure(path: &str, versions: [&File; 2]) -> Disclosure {
    if path.rsplit_once('.').is_some_and(|(_, suffix)| suffix == "ign") {
        Disclosure::IgnitionParts
    } else if versions.into_iter().any(is_secret) {
        Disclosure::Nothing
    } else {
        Disclosure::Lines
    }
}

/// Errs on the side of silence: whatever is private, not text, a Secret, or holds a private key.
fn is_secret(file: &File) -> bool {
    let Ok(text) = std::str::from_utf8(&file.contents) else { return true };
    let declares_secret = |line: &str| {
        let line: String = line.chars().filter(|c| !matches!(c, ' ' | '"' | '\'' | '-' | ',' | '{')).collect();
        line.contains("kind:Secret")
    };
    file.mode == Mode::Private || text.contains("PRIVATE KEY") || text.lines().any(declares_secret)
}

fn lines(path: &str, on_disk: &File, rendered: &File) -> Difference {
    let (old, new) = (String::from_utf8_lossy(&on_disk.contents), String::from_utf8_lossy(&rendered.contents));
    let diff = TextDiff::from_lines(old.as_ref(), new.as_ref());
    let (old_name, new_name) = (format!("{path} (on disk)"), format!("{path} (rendered now)"));
    Difference::Text(diff.unified_diff().context_radius(3).header(&old_name, &new_name).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_lines_of_ordinary_manifests() {
        let (old, new) = (File::public("a: 1\nb: 2\n"), File::public("a: 1\nb: 3\n"));
        let Difference::Text(text) = difference("manifests/a.yaml", &old, Some(&new)) else { panic!("no text") };
        assert_eq!(
            text,
            "--- manifests/a.yaml (on disk)\n+++ manifests/a.yaml (rendered now)\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n+b: 3\n"
        );
    }

    #[test]
    fn shows_nothing_of_what_is_secret_on_either_side() {
        let harmless = File::public("a: 1\n");
        let secrets = [
            File::private("a: 2\n"),
            File::public("kind: Secret\ndata: {}\n"),
            File::public("- kind:   \"Secret\"\n"),
            File::public(r#"{"apiVersion": "v1", "kind": "Secret"}"#),
            File::public("x: |\n  -----BEGIN PRIVATE KEY-----\n"),
            File::public(b"\xff\xfe".to_vec()),
        ];
        for secret in secrets {
            assert_eq!(difference("manifests/a.yaml", &harmless, Some(&secret)), Difference::Secret);
            assert_eq!(difference("manifests/a.yaml", &secret, Some(&harmless)), Difference::Secret);
        }
        assert_eq!(difference("bootstrap.ign", &harmless, Some(&File::public("no json"))), Difference::Secret);
    }
}
