//! Any bytes as an install-config: no panic, no runaway time or memory, and what is accepted can be written and read again.

#![no_main]

use landfall_config::{ConfigError, explain, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match parse(bytes) {
        Ok(parsed) => {
            let config = parsed.config;
            assert_eq!(config.clone().with_defaults(), config, "defaults settle at once");
            let again = parse(config.to_yaml().as_bytes()).expect("what was accepted is accepted again");
            assert_eq!(again.config, config, "what was written reads the same");
        }
        Err(ConfigError::Invalid(problems)) => {
            for problem in &problems {
                assert!(!problem.rule.starts_with("cannot be read"), "the schema let it through: {problem}");
                let _ = explain(Some(&problem.path));
            }
        }
        Err(other) => assert!(!other.to_string().is_empty()),
    }
});
