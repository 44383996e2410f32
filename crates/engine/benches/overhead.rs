//! What the engine itself costs: steps that do nothing, in a binary tree, applied and destroyed with a durable journal.
//!
//! With `TERRAFORM=path` the same tree of `terraform_data` resources is applied and destroyed beside it. Prints a table.

#![allow(clippy::disallowed_methods, reason = "measurements write what need not survive")]
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::{fmt::Write as _, fs, path::Path, process::Command, sync::Arc, time::Duration, time::Instant};

use async_trait::async_trait;
use landfall_engine::{Event, Journal, Options, PlanBuilder, RetryPolicy, apply, unwind};
use landfall_platform::{Bind, Context, Outputs, Step, StepError, StepSpec};

struct Nothing;

#[async_trait]
impl Step for Nothing {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        Ok(Outputs::default().with("id", "x"))
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}

struct BindNothing;

impl Bind for BindNothing {
    fn bind(&self, _: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        Ok(Arc::new(Nothing))
    }
}

fn main() {
    println!(
        "| steps | landfall apply, s | landfall unwind, s | peak memory, MiB | terraform apply, s | terraform destroy, s |"
    );
    println!("|---|---|---|---|---|---|");
    for steps in [10, 100, 1000, 10_000] {
        let (applied, unwound) = measure(steps);
        let peer = match std::env::var("TERRAFORM") {
            // Its time grows with the square of the number, so the largest tree would take an hour.
            Ok(terraform) if steps <= 1000 => peer(&terraform, steps),
            _ => "– | –".to_owned(),
        };
        println!(
            "| {steps} | {:.3} | {:.3} | {:.1} | {peer} |",
            applied.as_secs_f64(),
            unwound.as_secs_f64(),
            peak_mib()
        );
    }
}

#[tokio::main]
async fn measure(steps: usize) -> (Duration, Duration) {
    let mut builder = PlanBuilder::default();
    for number in 1..=steps {
        builder.step(StepSpec {
            id: format!("step-{number}").into(),
            title: format!("step {number}"),
            kind: "nothing".into(),
            needs: if number == 1 { Vec::new() } else { vec![format!("step-{}", number / 2).into()] },
            timeout: Duration::from_mins(1),
            desired: serde_json::json!({ "number": number }),
        });
    }
    let plan = builder.build().expect("a tree is a plan");
    let home = tempfile::tempdir().expect("a directory");
    let infra_id = "bench-bcdfg".parse().expect("an infra id");
    let journal = Journal::open(&home.path().join("journal"), &infra_id).expect("a journal");
    let options = Options {
        retry: RetryPolicy::default(),
        removal_timeout: None,
        events: Arc::new(|_: &Event| ()),
        cancel: tokio_util::sync::CancellationToken::new(),
    };
    let began = Instant::now();
    apply(&plan, &BindNothing, &journal, &options).await.expect("nothing can fail");
    let applied = began.elapsed();
    let began = Instant::now();
    unwind(&BindNothing, &journal, &options).await.expect("nothing can fail");
    (applied, began.elapsed())
}

fn peer(terraform: &str, steps: usize) -> String {
    let home = tempfile::tempdir().expect("a directory");
    let mut tree = String::new();
    for number in 1..=steps {
        let parent = if number == 1 { String::new() } else { format!("depends_on = [terraform_data.n{}]", number / 2) };
        let _ = writeln!(tree, "resource \"terraform_data\" \"n{number}\" {{\n  input = {number}\n  {parent}\n}}");
    }
    fs::write(home.path().join("main.tf"), tree).expect("the tree can be written");
    run(terraform, home.path(), &["init", "-input=false"]);
    let applied = run(terraform, home.path(), &["apply", "-auto-approve", "-input=false"]);
    let destroyed = run(terraform, home.path(), &["destroy", "-auto-approve", "-input=false"]);
    format!("{:.3} | {:.3}", applied.as_secs_f64(), destroyed.as_secs_f64())
}

fn run(program: &str, home: &Path, arguments: &[&str]) -> Duration {
    let began = Instant::now();
    let output = Command::new(program).args(arguments).current_dir(home).output().expect("terraform can be run");
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    began.elapsed()
}

/// The process' own peak so far, which includes the smaller trees before.
fn peak_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let kib =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}
