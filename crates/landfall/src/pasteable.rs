//! Commands in messages, completed so that they can be pasted.

use std::{borrow::Cow, path::Path};

/// Beginning of a quoted command of this program in a message.
const OPENING: &str = "'landfall ";
/// Commands that read no install directory.
const WITHOUT_DIRECTORY: [&str; 6] = ["explain", "version", "completion", "demo", "sim", "docs"];

/// Adds `--dir` to the commands that messages name, if this run was given another directory than the current one.
///
/// Libraries write `'landfall destroy cluster'` and do not know the directory. The printer completes it in one place, so that no message can
/// forget it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pasteable {
    /// The argument as a shell reads it; none for the current directory.
    dir: Option<&'static str>,
}

impl Pasteable {
    /// Completes commands for an install directory.
    pub(crate) fn new(dir: &Path) -> Self {
        if dir == Path::new(".") {
            return Self { dir: None };
        }
        // Once per process: printers are copied, and live as long as it does.
        Self { dir: Some(Box::leak(quote(&dir.to_string_lossy()).into_boxed_str())) }
    }

    /// Returns the message with complete commands.
    pub(crate) fn complete(self, text: &str) -> Cow<'_, str> {
        let Some(dir) = self.dir else { return Cow::Borrowed(text) };
        if !text.contains(OPENING) {
            return Cow::Borrowed(text);
        }
        let mut completed = String::new();
        let mut rest = text;
        while let Some((before, command)) = rest.split_once(OPENING) {
            let Some((arguments, after)) = command.split_once('\'') else { break };
            completed.extend([before, OPENING, arguments]);
            if takes_directory(arguments) {
                completed.extend([" --dir ", dir]);
            }
            completed.push('\'');
            rest = after;
        }
        completed.push_str(rest);
        Cow::Owned(completed)
    }
}

fn takes_directory(arguments: &str) -> bool {
    let mut words = arguments.split_whitespace();
    let is_own = words.next().is_none_or(|command| WITHOUT_DIRECTORY.contains(&command));
    !is_own && !words.any(|word| word == "--dir" || word == "--infra-id")
}

/// Returns a path as one word of a shell, without quotes: it stands between quotes in messages.
pub(crate) fn quote(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=~".contains(c);
    path.chars().flat_map(|c| (!plain(c)).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(dir: &str, text: &str) -> String {
        Pasteable::new(Path::new(dir)).complete(text).into_owned()
    }

    #[test]
    fn commands_get_the_directory_of_the_run() {
        assert_eq!(
            complete("my cluster", "run 'landfall destroy cluster', or 'landfall create cluster' again"),
            "run 'landfall destroy cluster --dir my\\ cluster', or 'landfall create cluster --dir my\\ cluster' again",
        );
    }

    #[test]
    fn commands_that_need_none_or_have_one_stay_as_they_are() {
        for text in [
            "'landfall explain dns' lists the fields",
            "'landfall destroy cluster --infra-id ID' needs no directory",
            "'landfall status --dir other'",
            "in use by another process of 'landfall",
            "it's not there; don't",
        ] {
            assert_eq!(complete("there", text), text);
        }
        assert_eq!(complete(".", "run 'landfall destroy cluster'"), "run 'landfall destroy cluster'");
    }
}
