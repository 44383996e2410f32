//! Booting from the network: the firmware fetches an iPXE script and does what it says.
//!
//! Of what it says only this matters here: that it boots a kernel and an initial file system, and that the system will look
//! for its config where this platform has it. Neither is downloaded.

use std::time::Duration;

use hyper::Request;
use rustls::pki_types::CertificateDer;
use url::Url;

use super::console::{Console, chain};
use super::ignition::client;
use super::network::Link;
use super::times::Times;

/// The firmware gives up after so many attempts.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_secs(5);

/// Why a machine does not boot from the network.
#[derive(Debug, thiserror::Error)]
pub(super) enum BootScriptError {
    #[error("{0} is not a URL that firmware can fetch")]
    Url(String),
    #[error("{url} gave nothing in {ATTEMPTS} attempts; the last: {last}")]
    Unreachable { url: String, last: String },
    #[error("{url} is no iPXE script that boots this machine: {reason}")]
    Script { url: String, reason: String },
}

/// The firmware of one machine.
pub(super) struct Firmware<'a> {
    pub(super) link: &'a Link,
    pub(super) console: &'a Console,
    /// Public authorities, which are the only ones that it trusts.
    pub(super) trusted: &'a [CertificateDer<'static>],
}

impl Firmware<'_> {
    /// Fetches a script and judges it.
    pub(super) async fn boot(&self, times: Times, url: &str) -> Result<(), BootScriptError> {
        let parsed = Url::parse(url).map_err(|_| BootScriptError::Url(url.to_owned()))?;
        let tls = match parsed.scheme() {
            "http" => None,
            "https" => Some(client(self.trusted).map_err(|_| BootScriptError::Url(url.to_owned()))?),
            _ => return Err(BootScriptError::Url(url.to_owned())),
        };
        let mut last = String::new();
        for _ in 0..ATTEMPTS {
            self.console.print(format!("iPXE: {url}"));
            let request = Request::get("/").header("user-agent", "iPXE/1.0.0+");
            match self.link.exchange(&parsed, tls.clone(), request, Vec::new()).await {
                Ok(reply) if reply.status == 200 => {
                    let text = String::from_utf8_lossy(&reply.body);
                    judge(&text).map_err(|reason| BootScriptError::Script { url: url.to_owned(), reason })?;
                    self.console.print("iPXE: booting");
                    return Ok(());
                }
                Ok(reply) => last = format!("status {}", reply.status),
                Err(error) => last = chain(&error),
            }
            tokio::time::sleep(times.scaled(PAUSE)).await;
        }
        Err(BootScriptError::Unreachable { url: url.to_owned(), last })
    }
}

fn judge(script: &str) -> Result<(), String> {
    let mut lines = script.lines().map(str::trim);
    if lines.next() != Some("#!ipxe") {
        return Err("it does not begin with #!ipxe".to_owned());
    }
    let lines: Vec<&str> = lines.collect();
    let arguments = |word: &str| lines.iter().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
    let kernel = arguments("kernel").ok_or("it names no kernel")?;
    arguments("initrd").ok_or("it names no initial file system")?;
    if !lines.contains(&"boot") {
        return Err("it does not boot".to_owned());
    }
    let sources = ["ignition.platform.id=packet", "coreos.inst.platform_id=packet"];
    if kernel.split_whitespace().any(|word| sources.contains(&word)) {
        Ok(())
    } else {
        Err("its system would not look for its config on this platform".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_judged_by_what_they_boot() {
        let kernel = "kernel http://a/k initrd=i coreos.inst.platform_id=packet";
        let good = format!("#!ipxe\n{kernel}\ninitrd --name i http://a/i\nboot\n");
        assert_eq!(judge(&good), Ok(()));
        for (script, reason) in [
            ("kernel x".to_owned(), "#!ipxe"),
            ("#!ipxe\nboot\n".to_owned(), "no kernel"),
            (good.replace("boot\n", ""), "does not boot"),
            (good.replace("=packet", "=metal"), "would not look"),
        ] {
            assert!(judge(&script).unwrap_err().contains(reason), "{script}");
        }
    }
}
