//! Any lines as assignments (`--set path=value`) to a good install-config.
//!
//! Changing single values of a good file reaches the rules that hardly any sequence of bytes would get to.

#![no_main]

use std::sync::LazyLock;

use landfall_config::{parse, parse_tree, parse_yaml, tree};
use libfuzzer_sys::fuzz_target;

static EXAMPLE: LazyLock<serde_json::Value> = LazyLock::new(|| {
    parse_yaml(include_bytes!("../../examples/ovirt/install-config.yaml")).expect("the example is good")
});

fuzz_target!(|text: &str| {
    let mut config = EXAMPLE.clone();
    for line in text.lines() {
        let _ = tree::set(&mut config, line);
    }
    if let Ok(parsed) = parse_tree(config) {
        let config = parsed.config;
        assert_eq!(config.validate().0, [], "what was accepted is valid");
        let again = parse(config.to_yaml().as_bytes()).expect("what was accepted is accepted again");
        assert_eq!(again.config, config, "what was written reads the same");
    }
});
