//! Drawing directed graphs, as DOT for other programs or as a finished SVG.

mod dot;
mod layout;
mod svg;

pub(crate) use dot::to_dot;
pub(crate) use svg::to_svg;

/// A directed graph without cycles, whose nodes come after those that they depend on.
#[derive(Debug)]
pub(crate) struct Diagram {
    pub(crate) nodes: Vec<Node>,
}

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    /// Its name.
    pub(crate) name: String,
    /// Lines in smaller type below the name.
    pub(crate) details: Vec<String>,
    /// Places in [`Diagram::nodes`] of the nodes that it depends on; all smaller than its own.
    pub(crate) depends_on: Vec<usize>,
}

impl Diagram {
    /// All edges, from what is needed to what needs it.
    fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        self.nodes.iter().enumerate().flat_map(|(to, node)| node.depends_on.iter().map(move |&from| (from, to)))
    }
}

#[cfg(test)]
fn sample() -> Diagram {
    let node = |name: &str, details: &[&str], depends_on: &[usize]| Node {
        name: name.to_owned(),
        details: details.iter().map(|&line| line.to_owned()).collect(),
        depends_on: depends_on.to_vec(),
    };
    Diagram {
        nodes: vec![
            node("config", &["install-config.yaml"], &[]),
            node("secrets", &[], &[0]),
            node("a \"quoted\" <name> & more", &["auth/*", "back\\slash"], &[0, 1]),
            node("last", &[], &[0, 2]),
        ],
    }
}
