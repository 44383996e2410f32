//! `landfall graph`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use landfall_platform::StepId;
use landfall_workdir::WorkDir;

use super::plan;
use crate::{
    cluster::{Facts, PublicDns, dns_binder},
    context::Context,
    drawing::{Diagram, Node, to_dot, to_svg},
    error::Error,
    printer,
    stages::Source,
};

/// Draw what is made from what: the files, or the steps of the installation.
#[derive(Args, Debug)]
pub(crate) struct Graph {
    /// What to draw
    #[arg(value_enum, default_value_t = Subject::Assets)]
    subject: Subject,

    /// Form of the drawing
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,

    /// Write to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    output_file: Option<PathBuf>,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Subject {
    /// The assets, and the files that they are written to
    Assets,
    /// The steps of the installation that the install-config in the directory describes, as far as they can be told without
    /// asking the platform
    Steps,
}

/// Form of the drawing.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Graphviz' language
    Dot,
    /// A finished picture
    Svg,
}

pub(crate) fn run(args: &Graph, context: &Context) -> anyhow::Result<()> {
    let (title, diagram) = match args.subject {
        Subject::Assets => ("assets", assets()),
        Subject::Steps => ("steps", steps(context)?),
    };
    let drawing = match args.format {
        Format::Dot => to_dot(title, &diagram),
        Format::Svg => to_svg(title, &diagram),
    };
    let Some(path) = &args.output_file else { return Ok(printer::print(&drawing)?) };
    #[expect(clippy::disallowed_methods, reason = "a drawing that the same command makes again")]
    std::fs::write(path, drawing).map_err(|source| Error::WriteOutput { path: path.clone(), source })?;
    context.printer.info(format_args!("wrote {}", path.display()));
    Ok(())
}

/// The assets, each with the files that it is written to.
fn assets() -> Diagram {
    let assets = landfall_assets::graph();
    let place = |name: &str| assets.iter().position(|asset| asset.name == name);
    let nodes = assets.iter().map(|asset| Node {
        name: asset.name.to_owned(),
        details: asset.files.iter().map(|&file| file.to_owned()).collect(),
        depends_on: asset.depends_on.iter().filter_map(|name| place(name)).collect(),
    });
    Diagram { nodes: nodes.collect() }
}

/// The steps of the installation.
fn steps(context: &Context) -> anyhow::Result<Diagram> {
    let dir = WorkDir::open(&context.globals.dir)?;
    let source = Source::read(&dir)?;
    let (config, infra_id) = (&source.config, plan::infra_id(&dir, &source)?);
    let dns = PublicDns::of(config, dir.root(), &dns_binder(&infra_id, &context.environment));
    let steps = plan::steps(config, &infra_id, &Facts::assumed(config), dns.as_ref())?;
    let place = |id: &StepId| steps.iter().position(|step| step.id == *id);
    let nodes = steps.iter().map(|step| Node {
        name: step.id.to_string(),
        details: vec![step.title.clone()],
        depends_on: step.needs.iter().filter_map(place).collect(),
    });
    Ok(Diagram { nodes: nodes.collect() })
}
