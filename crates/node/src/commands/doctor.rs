//! `landfall-node doctor`.

use std::io::Write as _;

use landfall_node::{doctor, machine::Machine};
use landfall_platform::{Finding, Verdict};

use crate::cli::Output;

/// Says what is wrong. Returns whether nothing is.
pub(crate) async fn run(output: Output) -> anyhow::Result<bool> {
    let findings = doctor::examine(&Machine::this()?).await;
    let mut stdout = std::io::stdout().lock();
    match output {
        Output::Json => writeln!(stdout, "{}", serde_json::to_string_pretty(&findings)?)?,
        Output::Text => stdout.write_all(text(&findings).as_bytes())?,
    }
    Ok(findings.iter().all(|finding| finding.verdict != Verdict::Problem))
}

fn text(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|finding| {
        let mark = match finding.verdict {
            Verdict::Ok => "ok     ",
            Verdict::Notice => "notice ",
            Verdict::Problem => "PROBLEM",
        };
        format!("{mark}  {finding}\n")
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_stand_out_and_say_what_to_do() {
        let findings = [Finding::ok("address", "192.0.2.1"), Finding::problem("names", "no answer", "look there")];
        assert_eq!(text(&findings), "ok       address: 192.0.2.1\nPROBLEM  names: no answer (look there)\n");
    }
}
