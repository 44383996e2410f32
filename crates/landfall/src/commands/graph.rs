//! `landfall graph`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::{
    context::Context,
    drawing::{Diagram, Node, to_dot, to_svg},
    error::Error,
    printer,
};

/// Draw what is made from what.
#[derive(Args, Debug)]
pub(crate) struct Graph {
    /// Form of the drawing
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,

    /// Write to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    output_file: Option<PathBuf>,
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
    let diagram = assets();
    let drawing = match args.format {
        Format::Dot => to_dot("assets", &diagram),
        Format::Svg => to_svg("assets", &diagram),
    };
    let Some(path) = &args.output_file else { return Ok(printer::print(&drawing)?) };
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
