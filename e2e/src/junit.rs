//! Results as JUnit XML, as all stages of `make test` leave them.

use std::path::Path;

use quick_xml::{
    Writer,
    events::{BytesDecl, BytesText, Event},
};

/// Outcome of a scenario.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) seconds: f64,
    /// Why it failed.
    pub(crate) failure: Option<String>,
}

/// Writes the outcomes to a file.
pub(crate) fn write(path: &Path, cases: &[Case]) -> anyhow::Result<()> {
    std::fs::write(path, render(cases)?)?;
    Ok(())
}

fn render(cases: &[Case]) -> std::io::Result<Vec<u8>> {
    let mut writer = Writer::new(Vec::new());
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer.create_element("testsuites").write_inner_content(|writer| {
        writer
            .create_element("testsuite")
            .with_attribute(("name", "hosts"))
            .write_inner_content(|writer| cases.iter().try_for_each(|case| case.write(writer)))?;
        Ok(())
    })?;
    Ok(writer.into_inner())
}

impl Case {
    fn write(&self, writer: &mut Writer<Vec<u8>>) -> std::io::Result<()> {
        let seconds = format!("{:.3}", self.seconds);
        let element = writer.create_element("testcase").with_attributes([
            ("classname", "e2e"),
            ("name", self.name),
            ("time", seconds.as_str()),
        ]);
        match &self.failure {
            None => element.write_empty()?,
            Some(failure) => element.write_inner_content(|writer| {
                writer.create_element("failure").write_text_content(BytesText::new(failure)).map(drop)
            })?,
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_escaped_and_successes_are_empty() {
        let cases = [
            Case { name: "install", seconds: 1.5, failure: None },
            Case { name: "destroy", seconds: 2.0, failure: Some("<left> & more".to_owned()) },
        ];
        let text = String::from_utf8(render(&cases).unwrap()).unwrap();
        assert!(text.contains(r#"<testcase classname="e2e" name="install" time="1.500"/>"#), "{text}");
        assert!(text.contains("<failure>&lt;left&gt; &amp; more</failure>"), "{text}");
    }
}
