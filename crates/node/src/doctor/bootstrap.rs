//! How far the bootstrap machine has come.

use landfall_platform::Finding;

use crate::{
    bootstrap::{PROGRESS_FILE, Progress},
    machine::Machine,
};

pub(super) fn progress(machine: &Machine) -> Option<Finding> {
    machine.facts.bootstrap.as_ref()?;
    let text = std::fs::read(machine.state.join(PROGRESS_FILE)).ok();
    Some(match text.and_then(|text| serde_json::from_slice::<Progress>(&text).ok()) {
        None => Finding::problem("bootstrap", "it has not begun", "journalctl -u landfall-bootstrap says why"),
        Some(progress) => judge(&progress),
    })
}

fn judge(progress: &Progress) -> Finding {
    let Some(step) = progress.steps.iter().find(|step| step.state != "done") else {
        return Finding::ok("bootstrap", "complete; this machine can be removed");
    };
    let text = format!("step '{}' is {} {}", step.title, step.state, step.message);
    if matches!(step.state.as_str(), "retrying" | "failed") {
        Finding::problem("bootstrap", text.trim_end(), "the message says what did not work; the step is tried again")
    } else {
        Finding::ok("bootstrap", text.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use landfall_platform::Verdict;

    use super::*;
    use crate::bootstrap::StepProgress;

    fn progress(state: &str) -> Progress {
        let step = StepProgress {
            id: "masters".to_owned(),
            title: "masters in the cluster".to_owned(),
            state: state.to_owned(),
            message: "1 of 3 masters have joined".to_owned(),
            since: None,
        };
        Progress { status: "progressing".to_owned(), steps: vec![step], ssh_host_keys: Vec::new() }
    }

    #[test]
    fn the_step_that_does_not_get_on_is_named() {
        assert_eq!(judge(&progress("running")).verdict, Verdict::Ok);
        assert_eq!(judge(&progress("retrying")).verdict, Verdict::Problem);
        assert!(judge(&progress("done")).message.starts_with("complete"));
    }
}
