//! What things look like that nobody configured.

use super::representation::{Tree, Value};
use super::table::Id;

/// The scheduling policy that clusters have: `none`.
pub(crate) const SCHEDULING_POLICY: Id = Id::from_u128(0xb4ed_2332_a7ac_4d5f_9596_99a4_39cb_2812);

/// The size of a VM whose client gives none.
pub(crate) const MEMORY_BYTES: i64 = 1 << 30;

/// The hardware of the Blank template, from which every other configuration is made. Clients walk all of it.
pub(crate) fn hardware() -> Tree {
    let flag = |enabled: bool| Tree::new().with("enabled", enabled);
    let inherit = || Value::Word("inherit");
    Tree::new()
        .with("type", "server")
        .with("memory", MEMORY_BYTES)
        .with("memory_policy", memory_policy(MEMORY_BYTES))
        .with(
            "cpu",
            Tree::new()
                .with("architecture", "x86_64")
                .with("topology", Tree::new().with("cores", 1).with("sockets", 1).with("threads", 1)),
        )
        .with("cpu_shares", 0)
        .with("cpu_pinning_policy", "none")
        .with("bios", Tree::new().with("boot_menu", flag(false)).with("type", "q35_sea_bios"))
        .with(
            "os",
            Tree::new()
                .with("type", "other")
                .with("boot", Tree::new().with("devices", Value::List("device", [Value::Word("hd")].into()))),
        )
        .with("stateless", false)
        .with("delete_protected", false)
        .with("high_availability", flag(false).with("priority", 1))
        .with(
            "display",
            Tree::new()
                .with("allow_override", false)
                .with("copy_paste_enabled", true)
                .with("disconnect_action", "LOCK_SCREEN")
                .with("disconnect_action_delay", 0)
                .with("file_transfer_enabled", true)
                .with("monitors", 1)
                .with("single_qxl_pci", false)
                .with("smartcard_enabled", false)
                .with("type", "vnc")
                .with("video_type", "vga"),
        )
        .with(
            "sso",
            Tree::new().with("methods", Value::List("method", [Tree::new().with("id", "guest_agent").into()].into())),
        )
        .with("rng_device", Tree::new().with("source", "urandom"))
        .with("console", flag(false))
        .with("usb", flag(false))
        .with("soundcard_enabled", false)
        .with(
            "migration",
            Tree::new().with("auto_converge", inherit()).with("compressed", inherit()).with("encrypted", inherit()),
        )
        .with("migration_downtime", -1)
        .with("virtio_scsi", flag(true))
        .with("virtio_scsi_multi_queues_enabled", false)
        .with("multi_queues_enabled", true)
        .with("start_paused", false)
        .with("io", Tree::new().with("threads", 1))
        .with("time_zone", Tree::new().with("name", "Etc/GMT"))
        .with("storage_error_resume_behaviour", "auto_resume")
        .with("tpm_enabled", false)
}

/// The memory policy of a VM that was given nothing but a size.
pub(crate) fn memory_policy(memory: i64) -> Tree {
    Tree::new().with("ballooning", true).with("guaranteed", memory).with("max", memory.saturating_mul(4))
}

/// A cluster of that architecture and processor.
pub(crate) fn cluster(architecture: &str, cpu: &str) -> Tree {
    let flag = |enabled: bool| Tree::new().with("enabled", enabled);
    let inherit = || Value::Word("inherit");
    Tree::new()
        .with("ballooning_enabled", true)
        .with("bios_type", "q35_sea_bios")
        .with("cpu", Tree::new().with("architecture", architecture).with("type", cpu))
        .with("error_handling", Tree::new().with("on_error", "migrate"))
        .with(
            "fencing_policy",
            flag(true)
                .with("skip_if_connectivity_broken", flag(false).with("threshold", 50))
                .with("skip_if_gluster_bricks_up", false)
                .with("skip_if_gluster_quorum_not_met", false)
                .with("skip_if_sd_active", flag(false)),
        )
        .with("fips_mode", "undefined")
        .with("firewall_type", "firewalld")
        .with("gluster_service", false)
        .with("ha_reservation", false)
        .with("ksm", flag(true).with("merge_across_nodes", true))
        .with("log_max_memory_used_threshold", 95)
        .with("log_max_memory_used_threshold_type", "percentage")
        .with(
            "migration",
            Tree::new()
                .with("auto_converge", inherit())
                .with("bandwidth", Tree::new().with("assignment_method", "auto"))
                .with("compressed", inherit())
                .with("encrypted", inherit()),
        )
        .with("required_rng_sources", Value::List("required_rng_source", [Value::Word("urandom")].into()))
        .with("switch_type", "legacy")
        .with("threads_as_cores", false)
        .with("trusted_service", false)
        .with("tunnel_migration", false)
        .with("upgrade_in_progress", false)
        .with("virt_service", true)
        .with("vnc_encryption", false)
}

/// A network of that name.
pub(crate) fn network(name: &str) -> Tree {
    Tree::new().with("mtu", 0).with("port_isolation", false).with("stp", false).with("vdsm_name", name)
}

/// A vNIC profile.
pub(crate) fn vnic_profile() -> Tree {
    Tree::new().with("pass_through", Tree::new().with("mode", "disabled")).with("port_mirroring", false)
}
