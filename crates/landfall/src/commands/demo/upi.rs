//! The story of a user with infrastructure of their own: every file of the kit is used by the program that it is for.

use std::{ffi::OsString, net::SocketAddr, path::Path};

use anyhow::Context as _;
use landfall_platform_ovirt::Credentials;

use super::{census::Census, own_services, runner::Runner, site::DemoSite};

/// The port of the API.
const API_PORT: u16 = 6443;
/// A simulated engine does in a second what a real one does in a minute, so nobody pauses for long.
const QUICK: &str = r#"{"poll_interval": 1, "make_delay": 1, "start_delay": 1}"#;

/// One demonstration.
pub(super) struct UpiStory<'a> {
    pub(super) runner: Runner<'a>,
    pub(super) site: &'a DemoSite,
    pub(super) masters: u32,
    pub(super) workers: u32,
    /// Where the name server listens.
    pub(super) resolver: SocketAddr,
}

impl UpiStory<'_> {
    pub(super) async fn tell(&self) -> anyhow::Result<()> {
        let Self { runner, site, .. } = self;
        let dir = site.install_directory();
        let kit = dir.join("upi");
        runner.heading(&format!("An oVirt engine, simulated in this process: {}", site.url()));
        let credentials: Credentials = site.credentials()?;
        let before = Census::take(&credentials).await?;
        runner.printer.info(format_args!("what it holds: {before}"));

        runner.heading("An install-config for a load balancer of your own, and the kit");
        let example = site.example();
        let masters = format!("controlPlane.replicas={}", self.masters);
        let workers = format!("compute[0].replicas={}", self.workers);
        let own = "loadBalancer=userManaged";
        let from = ["create", "install-config", "--from", &example, "--set", own, "--set", &masters, "--set", &workers];
        runner.landfall(&from, &dir).await?;
        runner.landfall(&["upi", "create"], &dir).await?;

        runner.heading("The machines, switched off; then DHCP reservations for them");
        self.play("image.yml", &kit).await?;
        self.play("vms.yml", &kit).await?;
        runner.landfall(&["upi", "create"], &dir).await?;

        runner.heading("Your name server and your load balancer: BIND and HAProxy, with the files of the kit");
        let _named = own_services::start_named(&kit, site.home(), self.resolver).await?;
        let vip = site.api_vip().context("the engine's network has no address for the API")?;
        let api = SocketAddr::new(vip, API_PORT);
        let _haproxy = own_services::start_haproxy(&kit, site.home(), api).await?;
        runner.landfall(&["upi", "check"], &dir).await?;

        runner.heading("The control plane comes up through them");
        self.play("bootstrap.yml", &kit).await?;
        self.play("masters.yml", &kit).await?;
        runner.landfall(&["wait-for", "bootstrap-complete"], &dir).await?;
        self.play("retire-bootstrap.yml", &kit).await?;
        self.play("workers.yml", &kit).await?;
        runner.landfall(&["wait-for", "install-complete"], &dir).await?;

        runner.heading("Away with it");
        self.play("retire-all.yml", &kit).await?;
        let after = Census::take(&credentials).await?;
        runner.printer.info(format_args!("what the engine holds: {after}"));
        anyhow::ensure!(after == before, "the engine does not hold what it held before");
        runner.printer.info("the very same as at the beginning: nothing of the cluster is left");
        Ok(())
    }

    async fn play(&self, playbook: &str, kit: &Path) -> anyhow::Result<()> {
        self.runner.program("ansible-playbook", &["-i", "inventory.yml", "-e", QUICK, playbook], kit).await
    }
}

/// What the programs of the story find in their environment.
pub(super) fn environment(site: &DemoSite, resolver: SocketAddr) -> Vec<(&'static str, OsString)> {
    let ansible = site.home().join("ansible");
    vec![
        ("OVIRT_CONFIG", site.credentials_file().into()),
        ("LANDFALL_DNS_RESOLVER", resolver.to_string().into()),
        // Nothing of the user's own takes part, and nothing is left behind.
        ("ANSIBLE_HOME", ansible.clone().into()),
        ("ANSIBLE_LOCAL_TEMP", ansible.join("tmp").into()),
        ("ANSIBLE_REMOTE_TEMP", ansible.join("tmp").into()),
        // One line for each thing that was done, instead of a page.
        ("ANSIBLE_DISPLAY_SKIPPED_HOSTS", "false".into()),
        ("ANSIBLE_DISPLAY_OK_HOSTS", "false".into()),
        ("ANSIBLE_LOCALHOST_WARNING", "false".into()),
    ]
}
