//! Where the nodes of a graph go: columns by depth, rows by the neighbours' average.
//!
//! The method is that of Sugiyama, Tagawa and Toda (1981) with its simplest choices: longest paths make the columns, edges
//! over several columns get a bend in each, and a few sweeps put every node near those it is connected to.

use super::{Diagram, Node};

const CHARACTER_WIDTH: f64 = 7.5;
const LINE_HEIGHT: f64 = 16.0;
const PADDING: f64 = 8.0;
const COLUMN_GAP: f64 = 60.0;
const ROW_GAP: f64 = 18.0;
const SWEEPS: usize = 8;

/// A graph with places.
#[derive(Debug)]
pub(super) struct Layout {
    /// Where each node is, in the order of the diagram.
    pub(super) boxes: Vec<Box>,
    /// The points that each edge goes through, in the order of the diagram's edges.
    pub(super) routes: Vec<Vec<(f64, f64)>>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The place of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Box {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Something in a column: a node, or the place where a long edge passes.
struct Item {
    column: usize,
    size: (f64, f64),
    /// Places in the list of items that it is connected to, in the columns before and after.
    before: Vec<usize>,
    after: Vec<usize>,
}

/// Places a graph.
pub(super) fn lay_out(diagram: &Diagram) -> Layout {
    let (items, chains) = items(diagram);
    let columns = order(&items);
    place(diagram, &items, &columns, &chains)
}

/// The items, nodes first, and for each edge the items that it passes.
fn items(diagram: &Diagram) -> (Vec<Item>, Vec<Vec<usize>>) {
    let mut items: Vec<Item> = Vec::new();
    for node in &diagram.nodes {
        let column = node.depends_on.iter().map(|&from| items[from].column + 1).max().unwrap_or(0);
        items.push(Item { column, size: size(node), before: Vec::new(), after: Vec::new() });
    }
    let mut chains = Vec::new();
    for (from, to) in diagram.edges() {
        let mut chain = vec![from];
        for column in items[from].column + 1..items[to].column {
            chain.push(items.len());
            items.push(Item { column, size: (0.0, 0.0), before: Vec::new(), after: Vec::new() });
        }
        chain.push(to);
        for pair in chain.windows(2) {
            items[pair[0]].after.push(pair[1]);
            items[pair[1]].before.push(pair[0]);
        }
        chains.push(chain);
    }
    (items, chains)
}

#[expect(clippy::cast_precision_loss, reason = "labels and columns are short")]
fn size(node: &Node) -> (f64, f64) {
    let lines = std::iter::once(&node.name).chain(&node.details);
    let characters = lines.map(|line| line.chars().count()).max().unwrap_or(0);
    let height = (1 + node.details.len()) as f64 * LINE_HEIGHT;
    (characters as f64 * CHARACTER_WIDTH + 2.0 * PADDING, height + 2.0 * PADDING)
}

/// The items of each column, ordered so that few edges cross.
#[expect(clippy::cast_precision_loss, reason = "labels and columns are short")]
fn order(items: &[Item]) -> Vec<Vec<usize>> {
    let last = items.iter().map(|item| item.column).max().unwrap_or(0);
    let mut columns = vec![Vec::new(); last + 1];
    for (index, item) in items.iter().enumerate() {
        columns[item.column].push(index);
    }
    let mut rank: Vec<f64> = vec![0.0; items.len()];
    for sweep in 0..SWEEPS {
        let forward = sweep % 2 == 0;
        for turn in 0..columns.len() {
            let column = if forward { turn } else { last - turn };
            let wish = |index: usize| {
                let neighbours = if forward { &items[index].before } else { &items[index].after };
                let sum: f64 = neighbours.iter().map(|&neighbour| rank[neighbour]).sum();
                if neighbours.is_empty() { rank[index] } else { sum / neighbours.len() as f64 }
            };
            let mut wishes: Vec<(f64, usize)> = columns[column].iter().map(|&index| (wish(index), index)).collect();
            wishes.sort_by(|a, b| a.0.total_cmp(&b.0));
            columns[column] = wishes.into_iter().map(|(_, index)| index).collect();
            for (row, &index) in columns[column].iter().enumerate() {
                rank[index] = row as f64 - columns[column].len() as f64 / 2.0;
            }
        }
    }
    columns
}

fn place(diagram: &Diagram, items: &[Item], columns: &[Vec<usize>], chains: &[Vec<usize>]) -> Layout {
    let heights = columns.iter().map(|column| column.iter().map(|&index| items[index].size.1 + ROW_GAP).sum::<f64>());
    let height = heights.fold(0.0, f64::max) + ROW_GAP;
    let mut boxes = vec![Box::default(); items.len()];
    let mut x = ROW_GAP;
    for column in columns {
        let used: f64 = column.iter().map(|&index| items[index].size.1 + ROW_GAP).sum::<f64>() - ROW_GAP;
        let mut y = (height - used) / 2.0;
        let widest = column.iter().map(|&index| items[index].size.0).fold(0.0, f64::max);
        for &index in column {
            let (width, height) = items[index].size;
            boxes[index] = Box { x: x + (widest - width) / 2.0, y, width, height };
            y += height + ROW_GAP;
        }
        x += widest + COLUMN_GAP;
    }
    let routes = chains.iter().map(|chain| route(chain, &boxes)).collect();
    boxes.truncate(diagram.nodes.len());
    Layout { boxes, routes, width: x - COLUMN_GAP + ROW_GAP, height }
}

/// From the right side of the first, through the middle of those between, to the left side of the last.
fn route(chain: &[usize], boxes: &[Box]) -> Vec<(f64, f64)> {
    let last = chain.len() - 1;
    let point = |(position, &index): (usize, &usize)| {
        let Box { x, y, width, height } = boxes[index];
        let x = match position {
            0 => x + width,
            _ if position == last => x,
            _ => x + width / 2.0,
        };
        (x, y + height / 2.0)
    };
    chain.iter().enumerate().map(point).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn diagram(edges: &[Vec<bool>]) -> Diagram {
        let nodes = edges.iter().enumerate().map(|(index, row)| Node {
            name: format!("node {index}"),
            details: vec!["detail".to_owned(); index % 3],
            depends_on: (0..index).filter(|&from| row[from]).collect(),
        });
        Diagram { nodes: nodes.collect() }
    }

    proptest! {
        #[test]
        fn nothing_overlaps_and_every_edge_goes_right(
            edges in prop::collection::vec(prop::collection::vec(any::<bool>(), 12), 1..12)
        ) {
            let diagram = diagram(&edges);
            let layout = lay_out(&diagram);
            for (index, a) in layout.boxes.iter().enumerate() {
                prop_assert!(a.x >= 0.0 && a.y >= 0.0 && a.x + a.width <= layout.width && a.y + a.height <= layout.height);
                for b in &layout.boxes[index + 1..] {
                    let apart = a.x + a.width < b.x || b.x + b.width < a.x || a.y + a.height < b.y || b.y + b.height < a.y;
                    prop_assert!(apart, "{a:?} and {b:?} overlap");
                }
            }
            prop_assert_eq!(layout.routes.len(), diagram.edges().count());
            for route in &layout.routes {
                prop_assert!(route.windows(2).all(|pair| pair[0].0 < pair[1].0), "{:?} turns back", route);
            }
        }
    }
}
