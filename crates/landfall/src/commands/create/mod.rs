//! `landfall create`: the targets that are derived from the install-config.

pub(crate) mod cluster;
pub(crate) mod install_config;
mod summary;

use std::path::PathBuf;

use clap::Args;
use landfall_workdir::{Choice, Choices, Difference, Locked, Unsettled, WorkDir, difference};

use crate::{
    context::Context,
    error::Error,
    interrupt::Interrupt,
    printer::Printer,
    stages::{Derived, Request, Source, Target, derive},
};

/// Flags of the targets that are derived from the install-config.
#[derive(Args, Debug)]
pub(crate) struct Derive {
    /// Write stale files anew; edited ones are first copied to .landfall/backup. With a file: write that one anew, even if
    /// you edited or deleted it
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    regenerate: Vec<String>,

    /// Use stale files as they are. With a file: only that one
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    keep_stale: Vec<String>,

    /// The openshift-install program of the release (for OpenShift and OKD) [default: install-config, then PATH]
    #[arg(long, value_name = "PROGRAM")]
    openshift_install: Option<PathBuf>,
}

impl Derive {
    /// The user's choices; the same for all stages that are derived.
    fn choices(&self) -> Result<Choices, Error> {
        let [all_anew, all_kept] = [&self.regenerate, &self.keep_stale].map(|flag| flag.iter().any(String::is_empty));
        let choices = match (all_anew, all_kept) {
            (true, true) => {
                return Err(Error::Usage("--regenerate and --keep-stale cannot both hold for all files".to_owned()));
            }
            (true, false) => Choices::for_all(Choice::Regenerate),
            (false, true) => Choices::for_all(Choice::KeepStale),
            (false, false) => Choices::default(),
        };
        let named = |files: &[String], choice| {
            let files = files.iter().filter(|file| !file.is_empty());
            files.map(|file| (file.trim_start_matches("./").to_owned(), choice)).collect::<Vec<_>>()
        };
        let anew = named(&self.regenerate, Choice::Regenerate);
        let kept = named(&self.keep_stale, Choice::KeepStale);
        if let Some((file, _)) = anew.iter().find(|(file, _)| kept.iter().any(|(other, _)| other == file)) {
            return Err(Error::Usage(format!("'{file}' is named by both --regenerate and --keep-stale")));
        }
        Ok(anew.into_iter().chain(kept).fold(choices, |choices, (file, choice)| choices.with(file, choice)))
    }
}

pub(crate) fn run(target: Target, args: &Derive, context: &Context) -> anyhow::Result<()> {
    let printer = context.printer;
    let dir = WorkDir::open(&context.globals.dir)?;
    // Before anything is locked or made: an install-config that cannot be used leaves no trace.
    let mut source = Source::read(&dir)?;
    if target == Target::Kit {
        landfall_upi::Inventory::require(&source.config)?;
        source = source.with_kit();
    }
    source.notices.iter().for_each(|notice| printer.warn(notice));
    let interrupt = context.interruptible()?;
    let locked = dir.lock(&context.holder())?;
    let derived = derive_to(target, args, &source, &locked, context, interrupt)?;
    summary::tell(printer, target, &derived);
    Ok(printer.summary(&summary::Summary::new(&derived))?)
}

/// Derives the stages up to a target; what is stale and undecided is shown.
fn derive_to(
    target: Target,
    args: &Derive,
    source: &Source,
    locked: &Locked,
    context: &Context,
    interrupt: &Interrupt,
) -> anyhow::Result<Derived> {
    let choices = args.choices()?;
    let request = Request { target, source, choices: &choices, program: args.openshift_install.as_deref() };
    derive(&request, locked, context, interrupt).inspect_err(|error| {
        error.downcast_ref::<Unsettled>().into_iter().for_each(|open| show(context.printer, open));
    })
}

/// Shows what is stale and how it differs from what would be written.
fn show(printer: Printer, open: &Unsettled) {
    for file in &open.files {
        let edited = if file.edited { ", and you edited it" } else { "" };
        let gone = if file.rendered.is_none() { " and no longer needed" } else { "" };
        printer.difference(&format!("{} is out of date{gone}{edited}", file.path));
        match difference(&file.path, &file.on_disk, file.rendered.as_ref()) {
            Difference::Text(text) => printer.difference(&text),
            Difference::Parts(parts) => printer.difference(&parts.join("\n")),
            Difference::Secret => printer.difference("(it holds secrets, so the difference is not shown)"),
            Difference::Gone => {}
        }
    }
}
