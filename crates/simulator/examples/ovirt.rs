//! Runs the oVirt simulator by itself: what `landfall sim ovirt` does, without the rest of Landfall.

use clap::Parser;
use landfall_simulator::ovirt;

#[derive(Debug, Parser)]
struct Arguments {
    #[command(flatten)]
    options: ovirt::Options,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let running = ovirt::start(&arguments.options).await?;
    running.run_until_signal(&mut std::io::stdout()).await?;
    Ok(())
}
