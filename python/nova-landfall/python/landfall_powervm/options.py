"""The [powervm] section of nova.conf. The first three options are those of the driver that Nova had until release 25."""

from oslo_config import cfg

GROUP = cfg.OptGroup("powervm", title="PowerVM", help="How instances are made on a PowerVM server, and how its NovaLink is reached.")

OPTIONS = [
    cfg.FloatOpt(
        "proc_units_factor", default=0.1, min=0.05, max=1,
        help="Processing units for each virtual processor, unless the flavor says something else (powervm:proc_units).",
    ),
    cfg.StrOpt(
        "disk_driver", choices=["localdisk", "ssp"], ignore_case=True, default="localdisk",
        help="Where disks are made: in a volume group of one VIOS (localdisk, which needs volume_group_name), or in the shared "
             "storage pool (ssp), which migration needs.",
    ),
    cfg.StrOpt(
        "volume_group_name", default="",
        help="The volume group for disk_driver = localdisk. Not rootvg, if that is where a VIOS or NovaLink keeps its own.",
    ),
    cfg.StrOpt("pool_name", help="The shared storage pool for disk_driver = ssp, if there are several."),
    cfg.BoolOpt(
        "share_pool_inventory", default=False,
        help="Tell placement of the shared storage pool once, as a provider that all hosts share, instead of with each host. For hosts "
             "without instances: placement does not let storage go that instances are counted with.",
    ),
    cfg.StrOpt("tier_name", help="The tier of the pool; its default tier if nothing is said."),
    cfg.StrOpt(
        "fc_attach_strategy", choices=["vscsi", "npiv"], default="vscsi", ignore_case=True,
        help="How Cinder's Fibre Channel volumes reach instances: as disks of the VIOSes (vscsi), or over virtual ports of the "
             "instances' own (npiv).",
    ),
    cfg.IntOpt("ports_per_fabric", default=1, min=1, help="For npiv: virtual ports of an instance on each fabric."),
    cfg.MultiStrOpt(
        "fabric_port_wwpns", default=[],
        help="For npiv: the world-wide names of the VIOSes' ports on a fabric, with commas between; once for each fabric, "
             "in the same order on all hosts.",
    ),
    cfg.StrOpt(
        "novalink_url", default="http://localhost:12080",
        help="Where NovaLink's REST API is. The default is for a nova-compute on the management partition.",
    ),
    cfg.StrOpt("novalink_user", default="nova", help="Who logs on."),
    cfg.StrOpt(
        "novalink_password", secret=True,
        help="The password. Without one, NovaLink puts a token into a file, which only programs on the management partition can read.",
    ),
    cfg.StrOpt("novalink_ca_file", help="The certificate authority of NovaLink; those that the system trusts if nothing is said."),
    cfg.BoolOpt("novalink_insecure", default=False, help="Trust anybody who answers at novalink_url."),
    cfg.StrOpt("managed_system", help="The name of the server, if there are several behind novalink_url."),
    cfg.StrOpt(
        "migration_address", sample_default="$my_ip",
        help="Where NovaLink of this server is for those of others, for live migration to this one.",
    ),
    cfg.StrOpt("migration_user", default="wlp", help="The user at NovaLink of this server whose key those of others have."),
    cfg.StrOpt(
        "journal_directory", default="$state_path/landfall-powervm",
        help="Where it is noted what is under way, so that it is undone if nova-compute is killed meanwhile.",
    ),
    cfg.StrOpt(
        "image_directory", default="$state_path/landfall-powervm-images",
        help="Where images are put between Glance and the server, and snapshots on their way back. Needs room for the largest of them.",
    ),
    cfg.IntOpt("connect_timeout", default=300, min=0, help="Seconds to wait for NovaLink and a VIOS when nova-compute starts."),
    cfg.FloatOpt("job_timeout", default=1800, min=1, help="Seconds that a job of the server may take; four times that for a live migration."),
    cfg.FloatOpt("job_poll_interval", default=1, min=0.01, help="Seconds between two looks at a job."),
    cfg.FloatOpt(
        "power_event_delay", default=15, min=0,
        help="Seconds for which an instance that somebody else has switched on or off must stay so before Nova is told: one that restarts "
             "is switched off and on. See also [workarounds] handle_virt_lifecycle_events.",
    ),
    cfg.StrOpt("vterm_directory", help="Where the commands mkvterm and rmvterm are, if not where the system looks."),
    cfg.BoolOpt(
        "vnc_port_per_instance", default=False,
        help="Offer each console at a free port of its own instead of vnc_port. For releases whose nova-novncproxy fails with a TypeError when "
             "several consoles share a port; 26 is one of them.",
    ),
    cfg.ListOpt(
        "vnc_proxies", default=[],
        help="Addresses of the machines where nova-novncproxy runs: no other machine reaches consoles. Without them, and without vnc_use_x509_auth, "
             "consoles are offered on loopback only, whatever [vnc] server_listen says.",
    ),
    cfg.BoolOpt(
        "vnc_use_x509_auth", default=False,
        help="Offer consoles only over TLS (VeNCrypt, X509None) to those who show a certificate that vnc_ca_certs has signed. For a "
             "nova-novncproxy with [vnc] auth_schemes = vencrypt.",
    ),
    cfg.StrOpt("vnc_ca_certs", help="For vnc_use_x509_auth: who signs the certificates of proxies, a file in PEM."),
    cfg.StrOpt("vnc_server_cert", help="For vnc_use_x509_auth: the certificate that proxies are shown, a file in PEM."),
    cfg.StrOpt("vnc_server_key", help="For vnc_use_x509_auth: its private key, a file in PEM."),
    cfg.PortOpt("vnc_port", default=5901, min=0, help="Where consoles are offered on [vnc] server_listen; 0 for any free port."),
]


def register(conf):
    """Registers the options. Nova may have done so itself: it had three of them until release 25."""
    conf.register_group(GROUP)
    for option in OPTIONS:
        try:
            conf.register_opt(option, group=GROUP)
        except cfg.DuplicateOptError:
            pass


def list_opts():
    """For oslo-config-generator."""
    return [(GROUP, OPTIONS)]
