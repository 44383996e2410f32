//! `landfall create install-config`.

mod given;
mod text;

use landfall_config::{ConfigError, Parsed};
use landfall_platform::File;
use landfall_workdir::{INSTALL_CONFIG, Transaction, WorkDir};
use serde::Serialize;

pub(crate) use given::InstallConfig;

use self::given::Given;
use crate::{context::Context, error::Error, prompter::TerminalPrompter, survey};

/// What was made, for programs.
#[derive(Serialize)]
struct Made<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<&'a str>,
}

pub(crate) fn run(args: &InstallConfig, context: &Context) -> anyhow::Result<()> {
    let interrupt = context.interruptible()?;
    // First of all, so that nobody answers twenty questions in vain.
    if context.globals.dir.exists() {
        check_free(&WorkDir::open(&context.globals.dir)?, args.overwrite)?;
    }
    let given = args.given()?;
    let (parsed, contents) = match (landfall_config::parse_tree(given.tree.clone()), given) {
        (Ok(parsed), given) => (parsed, given.into_text()?),
        (Err(ConfigError::Invalid(_)), given) if given.may_ask && context.is_interactive() => {
            let tree = ask(given, context)?;
            (landfall_config::parse_tree(tree.clone())?, text::render(&tree)?)
        }
        (Err(error), Given { may_ask: true, .. }) => return Err(Error::Incomplete(error).into()),
        (Err(error), _) => return Err(error.into()),
    };
    parsed.notices.iter().for_each(|notice| context.printer.warn(notice));

    let locked = WorkDir::open_or_make(&context.globals.dir)?.lock(&context.holder())?;
    let replaced = check_free(locked.dir(), args.overwrite)?;
    let mut transaction = Transaction::begin(&locked, context.now, env!("CARGO_PKG_VERSION"))?;
    if let Some(file) = replaced.filter(|file| file.contents != contents) {
        transaction.back_up(INSTALL_CONFIG, file);
    }
    transaction.write(INSTALL_CONFIG, file(&parsed, contents));
    let _held = interrupt.hold();
    let committed = transaction.commit()?;
    context.attach_log();
    let path = locked.dir().path(INSTALL_CONFIG);
    context.printer.info(format_args!("wrote {}", path.display()));
    if let Some(backup) = &committed.backup {
        context.printer.info(format_args!("a copy of what was there is in {backup}"));
    }
    context.printer.info("next: 'landfall create manifests', or 'landfall create ignition-configs'");
    Ok(context.printer.summary(&Made { file: INSTALL_CONFIG, backup: committed.backup.as_deref() })?)
}

/// What is there and may be replaced. An install-config is replaced only if that was asked for.
fn check_free(dir: &WorkDir, overwrite: bool) -> anyhow::Result<Option<File>> {
    let there = dir.read(INSTALL_CONFIG)?;
    if there.is_some() && !overwrite {
        return Err(Error::InstallConfigExists { path: dir.path(INSTALL_CONFIG) }.into());
    }
    Ok(there)
}

/// Asks for what is missing.
fn ask(given: Given, context: &Context) -> anyhow::Result<serde_json::Value> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut prompter = TerminalPrompter::default();
    Ok(runtime.block_on(survey::run(&mut prompter, given.tree, &context.environment))?)
}

/// Only its owner may read a file that holds, or may hold, credentials.
fn file(parsed: &Parsed, contents: Vec<u8>) -> File {
    let secret = parsed.config.pull_secret.is_some() || parsed.config.proxy.is_some();
    if secret { File::private(contents) } else { File::public(contents) }
}
