//! Graphviz' language.

use std::fmt::Write as _;

use super::Diagram;

/// The graph in Graphviz' language.
pub(crate) fn to_dot(name: &str, diagram: &Diagram) -> String {
    let mut text = format!("digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n", quoted(name));
    for node in &diagram.nodes {
        let lines: Vec<_> = std::iter::once(&node.name).chain(&node.details).map(|line| escaped(line)).collect();
        put(&mut text, format_args!("  {} [label=\"{}\"];\n", quoted(&node.name), lines.join("\\n")));
    }
    for (from, to) in diagram.edges() {
        let (from, to) = (&diagram.nodes[from].name, &diagram.nodes[to].name);
        put(&mut text, format_args!("  {} -> {};\n", quoted(from), quoted(to)));
    }
    text.push_str("}\n");
    text
}

fn put(text: &mut String, part: std::fmt::Arguments<'_>) {
    text.write_fmt(part).expect("writing to a String never fails");
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        process::{Command, Stdio},
    };

    use super::*;

    #[test]
    fn graphviz_reads_it() {
        let mut dot = Command::new("dot")
            .arg("-Tplain")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("graphviz is installed");
        dot.stdin.take().unwrap().write_all(to_dot("a \"b\"", &super::super::sample()).as_bytes()).unwrap();
        let output = dot.wait_with_output().unwrap();
        assert!(output.status.success());
        let plain = String::from_utf8(output.stdout).unwrap();
        let count = |kind: &str| plain.lines().filter(|line| line.starts_with(kind)).count();
        assert_eq!((count("node "), count("edge ")), (4, 5), "{plain}");
    }
}
