//! A list of things: a table for people, an array for programs.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::printer::Report;

/// Things, and how each is a row of a table.
pub(super) struct Listing<T> {
    heads: &'static [&'static str],
    items: Vec<T>,
    row: fn(&T) -> Vec<String>,
}

impl<T> Listing<T> {
    pub(super) fn new(heads: &'static [&'static str], items: Vec<T>, row: fn(&T) -> Vec<String>) -> Self {
        Self { heads, items, row }
    }
}

impl<T: Serialize> Serialize for Listing<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.items.serialize(serializer)
    }
}

impl<T> fmt::Display for Listing<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = self.heads.iter().map(|head| (*head).to_owned()).collect();
        let rows: Vec<Vec<String>> = std::iter::once(heads).chain(self.items.iter().map(self.row)).collect();
        let widest = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..self.heads.len()).map(widest).collect();
        for row in &rows {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}", width = *width)).collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}

impl<T: Serialize> Report for Listing<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_early() {
        let listing = Listing::new(&["name", "n"], vec![("long name", 1), ("é", 22)], |(name, number)| {
            vec![(*name).to_owned(), number.to_string()]
        });
        assert_eq!(listing.to_string(), "name       n\nlong name  1\né          22\n");
    }
}
