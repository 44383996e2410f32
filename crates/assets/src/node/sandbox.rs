//! Sandboxes of the agents: each may do what its job needs, and a hole in one does not open the machine.
//!
//! Agents run as root, because the files that they read belong to root. Without capabilities that is all they can do.

/// For every agent that runs for as long as the machine is up. Nothing in here hides or changes a file.
const EVERY: &[&str] = &[
    "NoNewPrivileges=yes",
    "LockPersonality=yes",
    "RestrictSUIDSGID=yes",
    "RestrictNamespaces=yes",
    "SystemCallArchitectures=native",
    "ProtectClock=yes",
    "ProtectHostname=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelLogs=yes",
    "ProtectControlGroups=yes",
    "ProtectHome=yes",
    "PrivateTmp=yes",
];
/// For those that start no program which needs more.
const PLAIN: &[&str] = &[
    "ProtectSystem=strict",
    "ProtectKernelTunables=yes",
    "PrivateDevices=yes",
    "RestrictRealtime=yes",
    "MemoryDenyWriteExecute=yes",
];
/// For those that only read files and talk over the network.
const NETWORK_ONLY: &[&str] = &[
    "CapabilityBoundingSet=",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "SystemCallFilter=@system-service",
    "SystemCallFilter=~@privileged",
    "SystemCallErrorNumber=EPERM",
];

/// Returns the lines of an agent's unit that limit it.
pub(super) fn sandbox(command: &str) -> Vec<&'static str> {
    let own: &[&[&str]] = match command {
        "config-server" | "boot-script" | "etcd" => &[EVERY, PLAIN, NETWORK_ONLY],
        "dns" => &[
            EVERY,
            PLAIN,
            &[
                // The resolver's files are replaced there.
                "ReadWritePaths=/etc",
                "CapabilityBoundingSet=CAP_NET_BIND_SERVICE",
                "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
            ],
        ],
        "network" => &[
            EVERY,
            PLAIN,
            &[
                // The configuration of the pod network is written there.
                "ConfigurationDirectory=cni",
                "CapabilityBoundingSet=CAP_NET_ADMIN",
                "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
            ],
        ],
        "certificates" => &[
            EVERY,
            PLAIN,
            &[
                // /etc/kubernetes, which is not there before the machine has joined, and the config server's certificate.
                "ReadWritePaths=/etc",
                "CapabilityBoundingSet=CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER",
                "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
            ],
        ],
        // keepalived and haproxy may be added to the running system, in which they are then seen only if /usr is not mounted here on its own.
        "vip" => &[
            EVERY,
            &[
                // VRRP and neighbour announcements; a real-time priority on a busy machine; scripts that check.
                "CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_RAW CAP_NET_BROADCAST CAP_NET_BIND_SERVICE",
                "CapabilityBoundingSet=CAP_SYS_NICE CAP_SYS_RESOURCE CAP_IPC_LOCK CAP_KILL CAP_SETUID CAP_SETGID",
                "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK AF_PACKET",
            ],
        ],
        "load-balancer" => &[
            EVERY,
            &[
                "RestrictRealtime=yes",
                "CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_SYS_RESOURCE",
                "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
            ],
        ],
        // kubeadm makes and unmakes a control plane: mounts, programs, files everywhere. A mount namespace would hide from the machine what it does.
        _ => &[&["NoNewPrivileges=yes", "LockPersonality=yes", "SystemCallArchitectures=native"]],
    };
    own.concat()
}
