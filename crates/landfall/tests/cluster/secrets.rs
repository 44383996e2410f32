//! Where secrets are, and where not.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use crate::{
    engine::{CHANGES, Engine, PASSWORD},
    install::{Install, Wish},
    place::Place,
    waiting::until,
};

/// Files whose purpose is to hold secrets, or that machines get them from.
const MEANT_FOR_SECRETS: [&str; 7] = [
    ".landfall/frozen/",
    ".landfall/secrets/",
    "auth/",
    "bootstrap.ign",
    "config-server/",
    "manifests/20-credentials.yaml",
    "manifests/21-user-data-",
];

/// Every text that must not be read by others, by what it is.
fn secrets(install: &Install, engine: &Engine<'_>) -> BTreeMap<String, String> {
    let mut secrets = BTreeMap::from([("password".to_owned(), PASSWORD.to_owned())]);
    for entry in fs::read_dir(install.context.path(".landfall/secrets")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        if path.extension().is_some_and(|extension| extension == "key") {
            // The part of a private key that is not its public key, the beginning of which is the same in all keys.
            let body: String = text.lines().filter(|line| !line.starts_with("-----")).collect();
            secrets.insert(name, body[48..64].to_owned());
        } else if name == "tokens.json" {
            collect(&serde_json::from_str(&text).unwrap(), &name, &mut secrets);
        }
    }
    // Public, and the whole world knows it by `metadata.json`.
    secrets.remove("tokens.json clusterId").expect("the cluster id is among the tokens");
    let sessions = engine.state()["sessions"].as_object().unwrap().clone();
    assert!(!sessions.is_empty(), "somebody has logged in");
    secrets.extend(sessions.into_iter().map(|(token, _)| (format!("token {}", &token[..4]), token)));
    assert!(secrets.len() >= 12, "{:?}", secrets.keys());
    secrets
}

fn collect(value: &Value, name: &str, secrets: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(field, value)| collect(value, &format!("{name} {field}"), secrets));
        }
        Value::String(text) => drop(secrets.insert(name.to_owned(), text.clone())),
        other => panic!("{name} holds {other}"),
    }
}

/// The secrets that a text holds, as they are, in base64 at any of the three offsets, or in URLs.
fn found<'a>(bytes: &[u8], secrets: &'a BTreeMap<String, String>) -> BTreeSet<&'a str> {
    let holds = |secret: &str| {
        let forms = [0, 1, 2].map(|offset| {
            let encoded = STANDARD.encode([&vec![0; offset], secret.as_bytes()].concat());
            let text = encoded.trim_end_matches('=');
            // Characters at the ends also encode their neighbours.
            text[if offset == 0 { 0 } else { 4 }..text.len() - 2].to_owned()
        });
        forms.iter().map(String::as_str).chain([secret]).any(|form| contains(bytes, form.as_bytes()))
    };
    secrets.iter().filter(|(_, secret)| holds(secret)).map(|(name, _)| name.as_str()).collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn all_files(directory: &Path, visit: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all_files(&path, visit) } else { visit(&path) }
    }
}

#[test]
fn secrets_are_in_their_files_only_and_those_are_private() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    let mut output = Vec::new();
    let mut argv = Vec::new();
    let (done, started) = (AtomicBool::new(false), AtomicBool::new(false));

    // A failure in between, so that errors are searched, too.
    engine.fault(&format!("{CHANGES} nth=4 status=500 body=platform"));
    engine.fault(&format!("{CHANGES} nth=6 token-expired"));
    let runs: [&[&str]; 4] = [
        &["create", "cluster", "--log-level", "trace"],
        &["create", "cluster", "--output", "json"],
        &["status", "--output", "json"],
        &["plan", "--output", "json"],
    ];
    for arguments in runs {
        let process = install.start(arguments);
        let id = process.id();
        done.store(false, Ordering::SeqCst);
        started.store(false, Ordering::SeqCst);
        let run = std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let mut seen = Vec::new();
                // The command line, and what is started besides: neither may carry a secret.
                while !done.load(Ordering::SeqCst) {
                    seen.extend(command_lines(id));
                    started.store(true, Ordering::SeqCst);
                    std::thread::park_timeout(std::time::Duration::from_millis(20));
                }
                seen
            });
            until("the first look at the processes", || {
                if started.load(Ordering::SeqCst) { Ok(()) } else { Err(String::new()) }
            });
            let run = process.wait();
            done.store(true, Ordering::SeqCst);
            argv.extend(watch.join().unwrap());
            run
        });
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        output.extend([run.stdout, run.stderr]);
    }
    let secrets = secrets(&install, &engine);
    assert!(argv.iter().any(|line| contains(line, b"create\0cluster")), "the program was seen while it ran");
    for line in &argv {
        assert_eq!(found(line, &secrets), BTreeSet::new(), "in {}", String::from_utf8_lossy(line));
    }
    for text in &output {
        assert_eq!(found(text.as_bytes(), &secrets), BTreeSet::new(), "in {text}");
    }

    let directory = install.context.dir();
    let mut holders = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    all_files(&directory, &mut |path| {
        let name = path.strip_prefix(&directory).unwrap().to_string_lossy().into_owned();
        let inside = found(&fs::read(path).unwrap(), &secrets);
        if inside.is_empty() {
            return;
        }
        assert!(MEANT_FOR_SECRETS.iter().any(|start| name.starts_with(start)), "{name} holds {inside:?}");
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name} holds {inside:?}");
        kinds.extend(inside.into_iter().map(str::to_owned));
        holders.insert(name);
    });
    for private in [".landfall", ".landfall/secrets", "auth"] {
        let mode = directory.join(private).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{private}");
    }
    // The search finds what is there to be found: otherwise it would prove nothing.
    for file in [
        "auth/kubeconfig",
        "bootstrap.ign",
        "manifests/20-credentials.yaml",
        ".landfall/frozen/auth/kubeconfig",
        ".landfall/secrets/admin.key",
    ] {
        assert!(holders.contains(file), "{file} holds a secret, and it was not found there; found in {holders:?}");
    }
    let unseen: Vec<&String> =
        secrets.keys().filter(|name| !kinds.contains(*name) && !name.starts_with("token ")).collect();
    assert_eq!(unseen, Vec::<&String>::new(), "secrets that were found nowhere");
}

/// The command lines of a process and its children.
fn command_lines(id: u32) -> Vec<Vec<u8>> {
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    let ids = children.split_whitespace().filter_map(|child| child.parse().ok()).chain([id]);
    ids.filter_map(|id| fs::read(format!("/proc/{id}/cmdline")).ok()).filter(|line| !line.is_empty()).collect()
}
