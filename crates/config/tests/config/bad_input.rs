//! Files that are no install-config at all, or that try to do harm.

use landfall_config::{ConfigError, parse};

use crate::support::EXAMPLE;

fn refusal(bytes: &[u8]) -> String {
    parse(bytes).unwrap_err().to_string()
}

fn refusal_after(addition: &str) -> String {
    refusal(format!("{EXAMPLE}{addition}").as_bytes())
}

#[test]
fn the_example_is_good_and_says_that_it_is_for_the_simulator() {
    let parsed = parse(EXAMPLE.as_bytes()).unwrap();
    let [notice] = parsed.notices.as_slice() else { panic!("{:?}", parsed.notices) };
    assert!(notice.to_string().contains("only simulated machines"), "{notice}");
    assert_eq!(parsed.config.cluster_domain(), "demo.example.com");
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_fine() {
    let plain = parse(EXAMPLE.as_bytes()).unwrap();
    let windows = format!("\u{feff}{}", EXAMPLE.replace('\n', "\r\n"));
    assert_eq!(parse(windows.as_bytes()).unwrap(), plain);
}

#[test]
fn a_key_over_several_windows_lines_is_fine() {
    let text = EXAMPLE.replace("sshKey: ", "sshKey: |\n  # laptop\n  ").replace('\n', "\r\n");
    let key = parse(text.as_bytes()).unwrap().config.ssh_key.unwrap();
    assert!(!key.contains('\r'), "{key:?}");
    assert_eq!(key.lines().count(), 2);
}

#[test]
fn large_files_are_refused_unread() {
    // Not YAML at all: had it been read, the answer would be another.
    let error = parse(&vec![b'['; 10_000_000]).unwrap_err();
    assert_eq!(error, ConfigError::TooLarge { size: 10_000_000, limit: 1 << 20 });
    assert_eq!(error.to_string(), "the install-config is too large: 10000000 bytes, and at most 1048576 are read");
}

#[test]
fn the_largest_file_is_still_read() {
    let padding = "#".repeat((1 << 20) - EXAMPLE.len() - 1);
    parse(format!("{EXAMPLE}{padding}\n").as_bytes()).unwrap();
    let error = parse(format!("{EXAMPLE}{padding}#\n").as_bytes()).unwrap_err();
    assert!(matches!(error, ConfigError::TooLarge { .. }));
}

#[test]
fn other_encodings_are_refused() {
    let utf16: Vec<u8> = EXAMPLE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(
        refusal(&[b"a: 1\nb: \xff\xfe", &utf16[..]].concat()),
        "the install-config is not UTF-8 text: byte 8 (line 2) is not part of a character"
    );
}

#[test]
fn yaml_mistakes_are_shown_with_their_place() {
    let lines = EXAMPLE.lines().count();
    for (addition, line, column, message) in [
        ("baseDomain: example.org\n", 1, 1, "the key 'baseDomain' stands twice in one mapping"),
        ("labels:\n\ta: b\n", 2, 2, "indented with a tab; YAML takes only spaces"),
        ("labels: {a: b\n", 1, 9, "unclosed bracket '{'"),
        ("labels: *nothing\n", 1, 9, "alias references unknown anchor"),
        ("---\napiVersion: v1\n", 2, 1, "a second document begins; an install-config is only one"),
        ("labels: !custom x\n", 1, 17, "the tag '!custom' has no meaning here"),
        ("labels: 'open\n", 2, 1, "invalid indentation in multiline quoted scalar"),
    ] {
        let text = refusal_after(addition);
        let wanted = format!("the install-config is not valid YAML: line {}, column {column}: {message}", lines + line);
        assert!(text.starts_with(&wanted), "{addition:?}: wanted\n{wanted}, got\n{text}");
    }
}

#[test]
fn alias_bombs_are_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..10 {
        let previous = format!("*a{}", i - 1);
        bomb.extend([format!("a{i}: &a{i} [{}]\n", [previous.as_str(); 10].join(", "))]);
    }
    let text = refusal(bomb.as_bytes());
    assert!(text.contains("more than 20000 values, counting what aliases repeat"), "{text}");
}

#[test]
fn long_aliased_texts_are_refused_or_stay_small() {
    let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a,".repeat(15_000));
    assert!(parse(text.as_bytes()).is_err());
}

#[test]
fn modest_aliases_are_welcome() {
    let text = EXAMPLE
        .replace("controlPlane:\n", "controlPlane: &pool\n  platform: {ovirt: {memoryMB: 8192}}\n")
        .replace("  - name: worker\n    replicas: 2", "  - <<: *pool\n    name: worker\n    replicas: 2");
    let config = parse(text.as_bytes()).unwrap().config;
    assert_eq!(config.compute[0].platform, config.control_plane.platform);
    assert_eq!(config.compute[0].replicas, 2);
}

#[test]
fn deep_nesting_is_refused() {
    let block: Vec<String> = (0..1000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    for text in ["[".repeat(100_000), "{a: ".repeat(10_000), "- ".repeat(10_000), block.concat()] {
        let text = refusal(text.as_bytes());
        assert!(text.contains("nested more than 24 levels deep"), "{text}");
    }
}

/// Each of these once took seconds, or more memory than the machine has.
#[test]
fn absurd_numbers_of_mistakes_are_cut_short() {
    let unknown: Vec<String> = (0..9000).map(|i| format!("unknown{i}: 1\n")).collect();
    let networks = EXAMPLE.replace("    - cidr: 127.66.0.0/16\n", &format!("    [{}]\n", "{},".repeat(9000)));
    let addresses = EXAMPLE.replace("      - 127.66.0.5\n", &format!("      [{}]\n", "127.66.0.5,".repeat(9000)));
    for text in [
        format!("{EXAMPLE}{}", unknown.concat()),
        networks,
        addresses,
        format!("{EXAMPLE}proxy: {{httpProxy: 'http://a', noProxy: '{}'}}\n", ",".repeat(1_000_000)),
        format!("{EXAMPLE}proxy: {{httpProxy: 'http://a', noProxy: '{}'}}\n", " ,".repeat(500_000)),
        EXAMPLE.replace("sshKey: ", &format!("sshKey: |\n{}  ", "  a\n".repeat(200_000))),
    ] {
        let text = refusal(text.as_bytes());
        assert!(text.len() < 100_000 && text.lines().count() <= 201, "{} bytes", text.len());
    }
    let text = refusal(format!("{EXAMPLE}{}", unknown.concat()).as_bytes());
    assert!(text.starts_with("the install-config has 9000 problems, of which these are the first 100\n"), "{text}");
}

#[test]
fn files_of_another_kind_are_refused_without_showing_them() {
    for (contents, wanted) in [
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("hunter2\n", "the file must be a mapping, not text"),
        ("- hunter2\n", "the file must be a mapping, not a list"),
        ("42\n", "the file must be a mapping, not a number"),
    ] {
        let text = refusal(contents.as_bytes());
        assert!(text.contains(wanted) && !text.contains("hunter2"), "{contents:?}: {text}");
    }
}

#[test]
fn words_that_old_yaml_takes_for_truth_values_stay_words() {
    let config = parse(format!("{EXAMPLE}labels: {{a: yes, b: no, c: on}}\n").as_bytes()).unwrap().config;
    assert_eq!(config.labels["a"], "yes");
    assert!(refusal_after("labels: {a: true}\n").contains("labels.a ('true') must be text, not a truth value"));
}

#[test]
fn the_pull_secret_is_never_shown() {
    for secret in [
        "'hunter2'",
        "{auths: {quay.io: {auth: hunter2}}}",
        "[hunter2]",
        "'{\"auths\": {\"quay.io\": {\"auht\": \"hunter2\"}}}'",
        "'{\"auths\": \"hunter2\"}'",
        "\"{\\\"auths\\\": hunter2}\"",
        "|\n  {hunter2\n",
    ] {
        let text = refusal_after(&format!("pullSecret: {secret}\n"));
        assert!(text.contains("pullSecret") && !text.contains("hunter2"), "{secret}: {text}");
    }
    let config = parse(format!("{EXAMPLE}pullSecret: '{{\"auths\":{{\"a\":{{\"auth\":\"hunter2\"}}}}}}'\n").as_bytes());
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn proxy_passwords_are_never_shown() {
    for url in
        ["ftp://me:hunter2@proxy:3128", "me:hunter2@proxy", "http://me:hunter2@10.128.0.1:3128", "://me:hunter2@"]
    {
        let text = refusal_after(&format!("proxy: {{httpProxy: '{url}'}}\n"));
        assert!(text.contains("proxy.httpProxy") && !text.contains("hunter2"), "{url}: {text}");
    }
}
