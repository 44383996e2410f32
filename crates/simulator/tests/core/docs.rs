//! The examples in `docs/simulators.md` are true.

use clap::CommandFactory;
use landfall_simulator::core::Options;
use landfall_simulator::core::faults::Rule;
use landfall_simulator::ovirt::{self, Engine, Inventory};
use landfall_simulator::packet;
use landfall_simulator::powervm::{self, NovaLink};
use landfall_simulator::powervs;

use super::client::Client;
use super::toy::{start, stepped};

const DOCS: &str = include_str!("../../../../docs/simulators.md");
const REAL_HOSTS: &str = include_str!("../../../../docs/real-hosts.md");

/// What stands between two marks, each time.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Vec<&'t str> {
    text.split(open).skip(1).filter_map(|rest| rest.split_once(close)).map(|(inside, _)| inside).collect()
}

#[test]
fn fault_rules_are_valid() {
    let flags = between(DOCS, "--fault '", "'");
    let bodies = between(DOCS, r#"'{"rule": ""#, "\"}'");
    assert!(flags.len() >= 5 && !bodies.is_empty());
    for rule in flags.into_iter().chain(bodies) {
        rule.parse::<Rule>().unwrap_or_else(|error| panic!("{rule}: {error}"));
    }
}

#[test]
fn every_effect_is_described() {
    let table = between(DOCS, "| effect |", "Every rule counts")[0];
    let effects = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(effect, _)| effect);
    let examples = effects.map(|effect| {
        let effect = effect.replace("[=DURATION]", "=5s").replace("=DURATION", "=5s").replace("=CODE", "=503");
        effect.replace("[=BYTES]", "").replace("=FACTOR", "=2")
    });
    let words: Vec<_> = examples.map(|effect| format!("* * {effect}").parse::<Rule>().unwrap().effect.word()).collect();
    assert_eq!(words.len(), 12, "{words:?}");
}

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    _options: ovirt::Options,
}

#[derive(clap::Parser)]
struct PacketFlags {
    #[command(flatten)]
    _options: packet::Options,
}

#[derive(clap::Parser)]
struct PowervmFlags {
    #[command(flatten)]
    _options: powervm::Options,
}

#[derive(clap::Parser)]
struct PowervsFlags {
    #[command(flatten)]
    _options: powervs::Options,
}

#[test]
fn every_kind_of_delay_is_described() {
    let section = between(DOCS, "### How long things take", "### What hangs together")[0];
    for kind in powervs::Kind::ALL {
        assert!(section.contains(&format!("`{}`", kind.name())), "{}", kind.name());
    }
}

#[test]
fn every_option_is_described() {
    let commands = [Flags::command(), PacketFlags::command(), PowervmFlags::command(), PowervsFlags::command()];
    let options: Vec<_> =
        commands.iter().flat_map(clap::Command::get_arguments).filter_map(clap::Arg::get_long).collect();
    assert!(options.len() > 40, "{options:?}");
    for option in options {
        let mut texts = ["`", " "].into_iter().map(|end| format!("`--{option}{end}"));
        let described = texts.any(|text| DOCS.contains(&text) || REAL_HOSTS.contains(&text));
        assert!(described, "--{option} is not described");
    }
}

#[tokio::test]
async fn every_admin_call_of_the_table_is_there() {
    let running = start(&stepped()).await;
    let admin = Client::admin(&running);
    let table = between(DOCS, "## The admin endpoint", "## State")[0];
    let calls = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(call, _)| call);
    let calls: Vec<_> = calls.filter_map(|call| call.split_once(' ')).collect();
    assert!(calls.len() >= 10, "{calls:?}");
    for (method, path) in calls {
        let answer = admin.call(method, path.trim_end_matches(','), "{}").await.unwrap();
        assert!(!matches!(answer.status.as_u16(), 404 | 405), "{method} {path}: {}", answer.status);
    }
}

#[test]
fn the_inventory_makes_a_world() {
    let yaml = between(DOCS, "```yaml\n", "```");
    let inventory = Inventory::parse(yaml[0]).unwrap_or_else(|error| panic!("{error:?}"));
    Engine::new(&inventory, 0).unwrap();
    let inventory = powervm::Inventory::parse(yaml[1]).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(NovaLink::new(&inventory, 0).hosts(), 1);
}

#[test]
fn defaults_are_as_described() {
    let options = Options::default();
    assert_eq!((options.listen.as_str(), options.max_body, options.max_connections), ("127.0.0.1:0", 10 << 20, 1024));
    assert_eq!((options.header_timeout.as_secs(), options.stop_timeout.as_secs()), (60, 10));
}
