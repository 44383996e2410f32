//! `landfall status`.

mod installation;
mod machines;

use std::fmt;

use clap::Args;
use jiff::{Timestamp, Unit};
use landfall_cluster::Bootstrap;
use landfall_engine::Journal;
use landfall_platform::InfraId;
use landfall_workdir::{Condition, Standing, WorkDir};
use serde::Serialize;

use self::{installation::Installation, machines::Machines};
use crate::{
    cluster::{JOURNAL, bootstrap_progress},
    context::Context,
    error::Error,
    printer::Report,
    stages::{Certificate, Source, certificates_in, standings},
};

/// Certificates that end sooner than this are warned of.
const SOON_DAYS: i64 = 30;

/// Say where an install directory stands: stages, edits, certificates.
#[derive(Args, Debug)]
pub(crate) struct Status {}

/// Where an install directory stands.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Overview {
    install_config: ConfigStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    infra_id: Option<InfraId>,
    stages: Vec<StageStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    installation: Option<Installation>,
    /// How far the bootstrap machine is, while there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    bootstrap: Option<BootstrapStatus>,
    /// Number of machines, and of those that the platform refuses, once there is a control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    machines: Option<Machines>,
    certificates: Vec<CertificateStatus>,
}

/// What the bootstrap machine says of itself.
#[derive(Serialize)]
#[serde(untagged)]
enum BootstrapStatus {
    Said(Bootstrap),
    Silent { unreachable: String },
}

/// Whether the install-config can be used.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "problem")]
enum ConfigStatus {
    Missing,
    Unusable(String),
    Usable,
}

#[derive(Serialize)]
struct StageStatus {
    name: &'static str,
    /// Nothing if it has not been made yet.
    #[serde(flatten)]
    standing: Option<Standing>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CertificateStatus {
    #[serde(flatten)]
    certificate: Certificate,
    days_left: i64,
}

pub(crate) fn run(_args: &Status, context: &Context) -> anyhow::Result<()> {
    let dir = WorkDir::open(&context.globals.dir)?;
    let (install_config, source) = match Source::read(&dir) {
        Ok(source) => (ConfigStatus::Usable, Some(source)),
        Err(error) => match error.downcast::<Error>() {
            Ok(Error::NoInstallConfig { .. }) => (ConfigStatus::Missing, None),
            Ok(other) => return Err(other.into()),
            Err(error) if error.is::<landfall_config::ConfigError>() => {
                (ConfigStatus::Unusable(error.to_string()), None)
            }
            Err(error) => return Err(error),
        },
    };
    let record = dir.record()?;
    let stages = standings(&dir, &record, source.as_ref())?;
    let installation = installation(&dir, context.now)?;
    let overview = Overview {
        install_config,
        infra_id: dir.identity()?.map(|identity| identity.infra_id),
        stages: stages.map(|(stage, standing)| StageStatus { name: stage.name, standing }).into(),
        bootstrap: installation
            .as_ref()
            .filter(|it| it.awaits_bootstrap())
            .map(|_| bootstrap(&dir))
            .transpose()?
            .flatten(),
        machines: match (&installation, &source) {
            (Some(installation), Some(source)) if installation.has_control_plane() => Machines::ask(&dir, source)?,
            _ => None,
        },
        installation,
        certificates: certificates_in(&dir)?
            .into_iter()
            .map(|certificate| CertificateStatus { days_left: days_left(&certificate, context.now), certificate })
            .collect(),
    };
    context.printer.report(&overview)?;
    for CertificateStatus { certificate, days_left } in &overview.certificates {
        let Certificate { name, .. } = certificate;
        let place = place(certificate);
        if *days_left < 0 {
            context.printer.warn(format_args!("the certificate {name} ({place}) has expired"));
        } else if *days_left < SOON_DAYS {
            context.printer.warn(format_args!("the certificate {name} ({place}) ends in {days_left} days"));
        }
    }
    Ok(())
}

/// Where the installation stands, if one was begun.
fn installation(dir: &WorkDir, now: Timestamp) -> Result<Option<Installation>, Error> {
    let running = dir.holder();
    let snapshot = Journal::read_begun(&dir.path(JOURNAL)).map_err(Error::Journal)?;
    Ok(snapshot.and_then(|snapshot| Installation::new(&snapshot, running, now)))
}

/// How far the bootstrap machine is. That it cannot be asked is nothing special: it may not have booted yet.
fn bootstrap(dir: &WorkDir) -> anyhow::Result<Option<BootstrapStatus>> {
    let said = tokio::runtime::Runtime::new()?.block_on(bootstrap_progress(dir));
    Ok(match said {
        Ok(said) => said.map(BootstrapStatus::Said),
        Err(error) => Some(BootstrapStatus::Silent { unreachable: format!("{error:#}") }),
    })
}

/// The file that holds a certificate, and how many more do.
fn place(certificate: &Certificate) -> String {
    let first = certificate.files.first().map(String::as_str).unwrap_or_default();
    match certificate.files.len() {
        0 | 1 => first.to_owned(),
        count => format!("{first} and {} more", count - 1),
    }
}

/// Whole days, negative once it has ended.
fn days_left(certificate: &Certificate, now: Timestamp) -> i64 {
    let hours = now.until((Unit::Hour, certificate.not_after)).map(|span| i64::from(span.get_hours()));
    hours.map_or(i64::MAX, |hours| hours.div_euclid(24))
}

impl Report for Overview {}

impl fmt::Display for Overview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.install_config {
            ConfigStatus::Missing => writeln!(f, "install-config    missing")?,
            ConfigStatus::Usable => writeln!(f, "install-config    usable")?,
            ConfigStatus::Unusable(problem) => writeln!(f, "install-config    cannot be used: {problem}")?,
        }
        match &self.infra_id {
            Some(id) => writeln!(f, "infra id          {id}")?,
            None => writeln!(f, "infra id          not yet minted")?,
        }
        for stage in &self.stages {
            write!(f, "{:<18}", stage.name)?;
            match &stage.standing {
                None => writeln!(f, "not yet made")?,
                Some(standing) => write_standing(f, standing)?,
            }
        }
        if let Some(installation) = &self.installation {
            write!(f, "{installation}")?;
        }
        match &self.bootstrap {
            Some(BootstrapStatus::Said(said)) => writeln!(f, "bootstrap         {said}")?,
            Some(BootstrapStatus::Silent { unreachable }) => {
                writeln!(f, "bootstrap         cannot be asked: {unreachable}")?;
            }
            None => {}
        }
        if let Some(machines) = &self.machines {
            write!(f, "{machines}")?;
        }
        if !self.certificates.is_empty() {
            writeln!(f, "certificates")?;
        }
        for CertificateStatus { certificate, days_left } in &self.certificates {
            let (end, place) = (format!("{:.0}", certificate.not_after), place(certificate));
            writeln!(f, "  {:<36} {end}  {days_left:>5} days left  in {place}", certificate.name)?;
        }
        Ok(())
    }
}

fn write_standing(f: &mut fmt::Formatter<'_>, standing: &Standing) -> fmt::Result {
    let Standing { written_at, written_by, .. } = standing;
    write!(f, "{} files, last written {written_at:.0} by landfall {written_by}", standing.files.len())?;
    if !standing.complete {
        write!(f, "; interrupted, the next run finishes it")?;
    }
    if !standing.changed_inputs.is_empty() {
        write!(f, "; changed since then: {}", standing.changed_inputs.join(", "))?;
    }
    writeln!(f)?;
    for (path, condition) in &standing.files {
        let remark = match condition {
            Condition::Unchanged => continue,
            Condition::Edited => "edited by you",
            Condition::KeptStale => "out of date, kept by you",
            Condition::Deleted => "deleted by you",
            Condition::Adopted => "added by you",
        };
        writeln!(f, "  {path}: {remark}")?;
    }
    Ok(())
}
