//! Load on the oVirt simulator: the calls that an installer makes, in small and in large worlds.
//!
//! ```console
//! $ cargo bench -p landfall-simulator --bench ovirt_load            # 100 and 10,000 VMs
//! $ cargo bench -p landfall-simulator --bench ovirt_load -- 500     # another number
//! ```
//!
//! The simulator is a process of its own (this program again), so that its memory can be told from that of the client.
//! Latency is that of one client alone; requests per second are those of eight at once, on the same machine.

#![allow(clippy::disallowed_methods, reason = "measurements write what need not survive")]
#![allow(clippy::print_stdout, reason = "a bench is there to print what it found")]

mod calls;
mod measure;
mod server;

use std::time::Duration;

use calls::{Installer, Scene};
use measure::{Error, Measured, measure};
use server::Server;

/// Clients at once when it is about requests per second.
const CLIENTS: usize = 8;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if arguments.first().is_some_and(|first| first == server::SERVE) {
        return runtime.block_on(server::serve(&arguments[1..]));
    }
    let sizes: Vec<u32> = arguments.iter().map(|argument| argument.parse()).collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() { vec![100, 10_000] } else { sizes };
    for size in sizes {
        runtime.block_on(load(size))?;
    }
    Ok(())
}

async fn load(size: u32) -> Result<(), Error> {
    let server = Server::start(size)?;
    println!(
        "\n{size} VMs: ready after {:.2} s, {:.0} MiB resident",
        server.started_in.as_secs_f64(),
        server.resident_mib()?
    );
    println!("{:<44} {:>9} {:>9} {:>9} {:>9} {:>10}", "", "p50 ms", "p99 ms", "max ms", "req/s", "KiB");
    let scene = Scene::new(&server, size).await?;
    for installer in Installer::ALL {
        let target = scene.target().await?;
        let alone = measure(&target, 1, Duration::from_secs(1), scene.call(installer)).await?;
        let together = measure(&target, CLIENTS, Duration::from_secs(2), scene.call(installer)).await?;
        report(installer.name(), &alone, &together);
    }
    for (name, alone) in scene.machines().await? {
        report(name, &alone, &alone);
    }
    println!("{:.0} MiB resident after that, {:.0} MiB at most", server.resident_mib()?, server.peak_mib()?);
    Ok(())
}

fn report(name: &str, alone: &Measured, together: &Measured) {
    println!("{name:<44} {alone} {:>9.0} {:>10.1}", together.per_second(), alone.kib());
}
