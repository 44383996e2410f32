//! What the engine holds of the cluster.

use std::{collections::BTreeMap, net::IpAddr};

use landfall_platform::Environment;
use landfall_platform_ovirt::{
    Client, CredentialsFile,
    client::{TemplateDetails, Vm, VmStatus},
};
use landfall_upi::{
    Inventory,
    check::{OvirtView, TemplateView, VmView},
};
use landfall_wire::Limits;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Looks at the template and the machines; and at the addresses that running ones report.
pub(super) async fn look(
    environment: &Environment,
    inventory: &Inventory,
) -> anyhow::Result<(OvirtView, BTreeMap<String, Vec<IpAddr>>)> {
    let credentials = CredentialsFile::locate(environment)?.read_under(environment)?;
    let client =
        Client::new(credentials.engine, &credentials.trust, Limits::default(), credentials.user, credentials.password)?;
    let template = client.template(&inventory.image.template).await?;
    let vms = client.vms_in_full(&format!("{}-", inventory.infra_id)).await?;
    let reported = vms.iter().map(|vm| (vm.name.clone(), vm.addresses().collect())).collect();
    let machines = vms.iter().map(|vm| seen(vm, inventory)).collect();
    Ok((OvirtView { template: template.as_ref().map(template_view), machines }, reported))
}

fn template_view(template: &TemplateDetails) -> TemplateView {
    TemplateView { status: template.status.clone(), os: template.os.clone(), disks: template.disks.len() }
}

fn seen(vm: &Vm, inventory: &Inventory) -> VmView {
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let topology = vm.topology();
    VmView {
        name: vm.name.clone(),
        description: vm.description.clone(),
        is_tagged: vm.has_tag(&inventory.infra_id),
        is_down: vm.status == VmStatus::Down,
        os: vm.os().to_owned(),
        memory_mib: vm.memory / MIB,
        topology: (number(topology.sockets), number(topology.cores), number(topology.threads)),
        os_disk_gib: vm.boot_disk().map(|disk| disk.provisioned_size / GIB),
        macs: vm.nics().iter().map(|nic| nic.mac().to_owned()).collect(),
        ignition: vm.ignition().map(str::to_owned),
    }
}
