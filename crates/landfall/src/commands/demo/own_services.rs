//! What a user with infrastructure of their own has: a name server and a load balancer.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket},
    path::Path,
    process::Stdio,
    time::Duration,
};

use anyhow::Context as _;
use tokio::{
    net::TcpStream,
    process::{Child, Command},
    time::{sleep, timeout},
};

/// Until a program listens.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);

/// Programs that the story needs besides this one, and the Debian package of each.
const PROGRAMS: [(&str, &str); 3] = [
    ("ansible-playbook", "ansible, with the collection ovirt.ovirt and ovirt-engine-sdk-python"),
    ("named", "bind9"),
    ("haproxy", "haproxy"),
];

/// Makes sure that all programs are there, before anything begins.
pub(super) fn require_programs() -> anyhow::Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &str| std::env::split_paths(&path).any(|directory| directory.join(name).is_file());
    let missing: Vec<String> = PROGRAMS
        .iter()
        .filter(|(name, _)| !is_there(name))
        .map(|(name, package)| format!("{name} (from {package})"))
        .collect();
    anyhow::ensure!(
        missing.is_empty(),
        "this demonstration plays the kit with real programs, and there is no {} on the PATH",
        missing.join(", no ")
    );
    Ok(())
}

/// An address on which a name server can listen at the moment. It must be one that an interface has.
pub(super) fn free_address() -> anyhow::Result<SocketAddr> {
    let stream = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port is free for the name server")?;
    let address = stream.local_addr()?;
    UdpSocket::bind(address).context("no port is free for the name server")?;
    Ok(address)
}

/// BIND, with the zones of the kit and nothing else.
#[expect(clippy::disallowed_methods, reason = "a configuration, which ends with the demonstration")]
pub(super) async fn start_named(kit: &Path, home: &Path, listen: SocketAddr) -> anyhow::Result<Child> {
    let home = home.join("named");
    std::fs::create_dir_all(&home)?;
    for entry in std::fs::read_dir(kit.join("dns"))? {
        let entry = entry?;
        std::fs::copy(entry.path(), home.join(entry.file_name()))?;
    }
    let zones = std::fs::read_to_string(home.join("named.conf"))?;
    let (directory, address, port) = (home.display(), listen.ip(), listen.port());
    let options = format!(
        "options {{ directory \"{directory}\"; pid-file \"{directory}/pid\"; session-keyfile \"{directory}/key\"; \
         listen-on port {port} {{ {address}; }}; listen-on-v6 {{ none; }}; recursion no; dnssec-validation no; \
         empty-zones-enable no; notify no; }};\ncontrols {{ }};\n"
    );
    let configuration = home.join("named.conf.all");
    std::fs::write(&configuration, options + &zones)?;
    start("named", &["-g", "-4", "-c"], &configuration, &home.join("log"), listen).await
}

/// HAProxy, with the configuration of the kit.
pub(super) async fn start_haproxy(kit: &Path, home: &Path, listen: SocketAddr) -> anyhow::Result<Child> {
    let configuration = kit.join("load-balancer/haproxy.cfg");
    start("haproxy", &["-db", "-f"], &configuration, &home.join("haproxy.log"), listen).await
}

#[expect(clippy::disallowed_methods, reason = "a log, which ends with the demonstration")]
async fn start(
    name: &str,
    flags: &[&str],
    configuration: &Path,
    log: &Path,
    listen: SocketAddr,
) -> anyhow::Result<Child> {
    let output = std::fs::File::create(log)?;
    let mut child = Command::new(name)
        .args(flags)
        .arg(configuration)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        // Ctrl-C is for us; it ends with us.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("cannot run {name}"))?;
    let listening = async {
        loop {
            let ended = child.try_wait()?;
            let said = || std::fs::read_to_string(log).unwrap_or_default();
            anyhow::ensure!(ended.is_none(), "{name} ended at once: {}", said());
            if TcpStream::connect(listen).await.is_ok() {
                return Ok(());
            }
            sleep(PAUSE).await;
        }
    };
    timeout(PATIENCE, listening).await.with_context(|| format!("{name} does not listen on {listen}"))??;
    Ok(child)
}
