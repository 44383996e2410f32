//! Ignition configs that users wrote or edited, and that are served with changes: no panic, and what was rendered is read again.

#![no_main]

use std::convert::Infallible;

use landfall_assets::{with_hostname, with_text_file};
use libfuzzer_sys::fuzz_target;

const FILE: &str = "/etc/landfall/kubeadm.yaml";

fuzz_target!(|config: &[u8]| {
    let mut before = None;
    let changed = with_text_file("fuzz", config, FILE, |text| {
        before = Some(text.to_owned());
        Ok::<_, Infallible>(format!("{text}# changed\n"))
    });
    let Ok(Ok(changed)) = changed else { return };
    let mut after = None;
    let again = with_text_file("fuzz", &changed, FILE, |text| {
        after = Some(text.to_owned());
        Ok::<_, Infallible>(text.to_owned())
    });
    assert!(matches!(again, Ok(Ok(_))), "what was rendered can be read");
    assert_eq!(after, before.map(|text| text + "# changed\n"), "the change is there, and nothing else");
    let named = with_hostname("fuzz", &changed, "demo-w0").expect("what was rendered can be read");
    let twice = with_hostname("fuzz", &named, "demo-w0").expect("what was rendered can be read");
    assert_eq!(named, twice, "a file takes the place of the one before");
});
