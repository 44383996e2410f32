//! A finished picture.

use std::fmt::Write as _;

use super::{Diagram, layout::lay_out};

const STYLE: &str = "rect{fill:#f6f8fa;stroke:#57606a}path{fill:none;stroke:#8c959f}\
    text{font-family:monospace;font-size:12px;fill:#1f2328}.detail{font-size:10px;fill:#57606a}";

/// The graph as an SVG document.
pub(crate) fn to_svg(name: &str, diagram: &Diagram) -> String {
    let layout = lay_out(diagram);
    let (width, height) = (layout.width, layout.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><polygon points=\"0,0 8,4 0,8\" fill=\"#8c959f\"/></marker>\n",
        escaped(name)
    );
    let mut put = |part: std::fmt::Arguments<'_>| text.write_fmt(part).expect("writing to a String never fails");
    for route in &layout.routes {
        put(format_args!("<path d=\"{}\" marker-end=\"url(#arrow)\"/>\n", curve(route)));
    }
    for (node, place) in diagram.nodes.iter().zip(&layout.boxes) {
        put(format_args!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"4\"/>\n",
            place.x, place.y, place.width, place.height
        ));
        let (x, mut y) = (place.x + 8.0, place.y + 20.0);
        put(format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n", escaped(&node.name)));
        for line in &node.details {
            y += 16.0;
            put(format_args!("<text class=\"detail\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n", escaped(line)));
        }
    }
    text.push_str("</svg>\n");
    text
}

/// A curve through the points that leaves and enters each of them horizontally.
fn curve(points: &[(f64, f64)]) -> String {
    let Some((x, y)) = points.first() else { return String::new() };
    let mut path = format!("M{x:.1},{y:.1}");
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let middle = f64::midpoint(x0, x1);
        write!(path, " C{middle:.1},{y0:.1} {middle:.1},{y1:.1} {x1:.1},{y1:.1}")
            .expect("writing to a String never fails");
    }
    path
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use quick_xml::{Reader, events::Event};

    use super::*;

    #[test]
    fn is_well_formed_and_holds_everything() {
        let svg = to_svg("a & b", &super::super::sample());
        let mut reader = Reader::from_str(&svg);
        let (mut names, mut texts) = (Vec::new(), Vec::new());
        loop {
            match reader.read_event().expect("well formed") {
                Event::Eof => break,
                Event::Start(start) | Event::Empty(start) => {
                    start.attributes().for_each(|attribute| drop(attribute.expect("well formed")));
                    names.push(start.name().as_ref().to_owned());
                }
                Event::Text(text) => texts.push(text.to_string()),
                _ => {}
            }
        }
        let count = |name: &str| names.iter().filter(|found| *found == name).count();
        assert_eq!((count("rect"), count("path"), count("text")), (4, 5, 7));
        assert!(texts.iter().any(|text| text.contains("install-config.yaml")));
    }
}
