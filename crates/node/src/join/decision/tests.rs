use super::*;

fn words() -> Vec<Word> {
    let reason = || "connection refused".to_owned();
    vec![Word::Complete, Word::Incomplete, Word::Refused(reason()), Word::Silent(reason()), Word::NotAsked]
}

/// Everything that can be on a disk.
fn disks() -> impl Iterator<Item = Remains> {
    (0..32_u8).map(|bits| Remains {
        begun: bits & 1 != 0,
        credentials: bits & 2 != 0,
        traces: bits & 4 != 0,
        member: bits & 8 != 0,
        left: bits & 16 != 0,
    })
}

fn resets(decision: &Decision) -> bool {
    matches!(decision, Decision::Reset | Decision::LeaveAndReset)
}

#[test]
fn a_machine_that_may_hold_a_member_is_reset_only_by_the_word_of_the_cluster() {
    for remains in disks().filter(|remains| remains.member && !remains.left) {
        for word in words() {
            let decision = decide(remains, &word);
            assert_ne!(decision, Decision::Reset, "its member would stay in the cluster: {remains:?}, {word:?}");
            let allowed = remains.begun && word == Word::Incomplete;
            assert_eq!(resets(&decision), allowed, "{remains:?}, {word:?}: {decision:?}");
            assert_ne!(decision, Decision::Join, "kubeadm would refuse: {remains:?}, {word:?}");
        }
    }
}

#[test]
fn silence_never_resets() {
    for remains in disks().filter(|remains| !remains.left) {
        assert!(!resets(&decide(remains, &Word::Silent("no route".into()))), "{remains:?}");
    }
}

/// A loss of power between the departure of the member and the end of the reset, which removes the credentials first.
#[test]
fn a_member_that_has_left_is_taken_back_to_the_end_whatever_is_there_of_it() {
    for remains in disks().filter(|remains| remains.left) {
        for word in words() {
            assert_eq!(decide(remains, &word), Decision::Reset, "{remains:?}, {word:?}");
        }
    }
}

#[test]
fn what_holds_no_data_is_taken_back_and_nothing_is_joined_as_it_is() {
    assert_eq!(decide(Remains::default(), &Word::NotAsked), Decision::Join);
    assert_eq!(decide(Remains { begun: true, ..Remains::default() }, &Word::NotAsked), Decision::Reset);
    for remains in disks().filter(|remains| remains.any() && !remains.member && !remains.left) {
        for word in [Word::Incomplete, Word::Refused("401".into()), Word::NotAsked] {
            assert_eq!(decide(remains, &word), Decision::Reset, "{remains:?}, {word:?}");
        }
    }
}

/// What `kubeadm join` does to a master's disk, in its order, and when the cluster knows of it. Only what is stored survives for certain:
/// of the rest, any part may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Landfall's own mark, stored before kubeadm starts.
    Begun,
    AdminConfig,
    Manifests,
    KubeletConfig,
    EtcdManifest,
    /// etcd stores its data itself, before it takes part in a decision.
    EtcdData,
}

const STEPS: [Step; 6] =
    [Step::Begun, Step::AdminConfig, Step::Manifests, Step::KubeletConfig, Step::EtcdManifest, Step::EtcdData];

fn surviving(steps: &[Step]) -> Remains {
    let has = |step| steps.contains(&step);
    Remains {
        begun: has(Step::Begun),
        left: false,
        credentials: has(Step::AdminConfig) || has(Step::KubeletConfig),
        traces: has(Step::Manifests) || has(Step::EtcdManifest),
        member: has(Step::EtcdManifest) || has(Step::EtcdData),
    }
}

#[test]
fn after_a_loss_of_power_at_any_moment_stored_etcd_data_stay() {
    for done in 0..=STEPS.len() {
        // Every choice of what is there of the steps that were done and not stored.
        for choice in 0..1_u8 << STEPS.len() {
            let survived: Vec<Step> = STEPS[..done]
                .iter()
                .enumerate()
                .filter(|(index, step)| matches!(step, Step::Begun | Step::EtcdData) || choice & (1 << index) != 0)
                .map(|(_, step)| *step)
                .collect();
            let remains = surviving(&survived);
            assert!(remains.begun || done == 0, "the mark is stored before anything else is done");
            for word in words() {
                let decision = decide(remains, &word);
                if done == STEPS.len() {
                    // Only the cluster's answer may, and then the member leaves first.
                    assert_ne!(decision, Decision::Reset, "{survived:?}, {word:?}");
                    assert!(decision != Decision::LeaveAndReset || word == Word::Incomplete, "{survived:?}, {word:?}");
                }
                // No state is a dead end once the cluster answers.
                if word == Word::Incomplete {
                    assert!(!matches!(decision, Decision::Wait(_)), "{survived:?}: {decision:?}");
                }
            }
        }
    }
}
