//! Text from templates.

use askama::Template;

/// The text of a template, with one newline at its end: haproxy insists on it.
pub(crate) fn text(template: &impl Template) -> String {
    let mut text = template.render().expect("writing to memory cannot fail");
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}
