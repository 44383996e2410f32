//! Masters with the reference installer's published settings of keepalived and haproxy, as they are on a cluster that has
//! settled: an advertisement a second, checks every 2 s of which three decide, priorities that are the same on all masters, and
//! API servers that are looked at every 5 s.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Writes a machine's files, and returns the script that runs its programs. keepalived is started again when it ends, after what
/// it left behind was removed, as the pod of the reference does it.
pub(crate) fn run(directory: &Path, address: &str, others: &[String], vip: &str) -> String {
    let (keepalived, haproxy, rules) =
        (file(directory, address, "keepalived.conf"), haproxy_file(directory, address), directory.join("rules.nft"));
    fs::write(&keepalived, keepalived_config(address, others, vip)).unwrap();
    fs::write(&haproxy, haproxy_config(others.iter().map(String::as_str).chain([address]))).unwrap();
    fs::write(&rules, redirect(vip)).unwrap();
    format!(
        "nft -f {rules}\n\
         haproxy -db -f {haproxy} > \"$LOGS/haproxy.log\" 2>&1 &\n\
         while :; do ip address del {vip}/32 dev eth0 2> /dev/null || :\n\
         keepalived -f {keepalived} --dont-fork --vrrp --log-console -p /run/ka.pid -r /run/kav.pid \\\n\
         > \"$LOGS/keepalived.log\" 2>&1 || :; sleep 0.2; done &",
        rules = rules.display(),
        haproxy = haproxy.display(),
        keepalived = keepalived.display(),
    )
}

/// The balancer's configuration of a machine.
pub(crate) fn haproxy_file(directory: &Path, address: &str) -> PathBuf {
    file(directory, address, "haproxy.cfg")
}

fn file(directory: &Path, address: &str, name: &str) -> PathBuf {
    directory.join(format!("reference-{address}-{name}"))
}

fn keepalived_config(address: &str, others: &[String], vip: &str) -> String {
    let ready = "curl --silent --fail --max-time 1.9 --output /dev/null http://127.0.0.1:9444/haproxy_ready";
    let local = "curl --silent --fail --insecure --max-time 1.9 --output /dev/null https://127.0.0.1:6443/readyz";
    let check = |name: &str, command: &str, weight: u8| {
        format!(
            "vrrp_script {name} {{\n  script \"/bin/sh -c '{command}'\"\n  interval 2\n  weight {weight}\n  rise 3\n  fall 3\n}}\n"
        )
    };
    let checks = check("balancer", ready, 20) + &check("either", &format!("{ready} || {local}"), 5);
    let peers = others.join("\n    ");
    format!(
        "global_defs {{\n  enable_script_security\n  script_user root\n  vrrp_garp_master_refresh 60\n}}\n{checks}\
         vrrp_instance api {{\n  state BACKUP\n  interface eth0\n  virtual_router_id 96\n  priority 40\n  advert_int 1\n  \
         unicast_src_ip {address}\n  unicast_peer {{\n    {peers}\n  }}\n  \
         authentication {{\n    auth_type PASS\n    auth_pass demo_api\n  }}\n  \
         virtual_ipaddress {{\n    {vip}/32\n  }}\n  track_script {{\n    balancer\n    either\n  }}\n}}\n"
    )
}

fn haproxy_config<'a>(servers: impl Iterator<Item = &'a str>) -> String {
    let servers: Vec<String> =
        servers.enumerate().map(|(number, address)| format!("  server master-{number} {address}:6443")).collect();
    let servers = servers.join("\n");
    format!(
        "defaults\n  mode tcp\n  retries 3\n  timeout connect 10s\n  timeout client 1m\n  timeout server 1m\n  \
         timeout tunnel 5m\n  timeout check 10s\n\
         frontend main\n  bind *:9445\n  default_backend masters\n\
         listen ready\n  bind *:9444\n  mode http\n  monitor-uri /haproxy_ready\n\
         backend masters\n  balance roundrobin\n  option httpchk GET /readyz\n  \
         default-server check check-ssl inter 5s fall 3 rise 1 verify none\n{servers}\n"
    )
}

fn redirect(vip: &str) -> String {
    let chain = |hook: &str, priority: &str| {
        format!(
            "  chain {hook} {{\n    type nat hook {hook} priority {priority};\n    ip daddr {vip} tcp dport 6443 redirect to :9445\n  }}\n"
        )
    };
    format!("table inet reference {{\n{}{}}}\n", chain("prerouting", "dstnat"), chain("output", "-100"))
}
