//! The scripts that take what the platform leads to a machine: judged by shellcheck, and run by the real shell and `ip`, in
//! namespaces that exist for as long as the test does.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{
    configs::{Rendered, packet},
    tool::run,
    view::View,
};

/// Makes a machine of the namespaces that it is started in: directories of its own laid over the host's, an interface with a
/// private address, and a name of the cluster.
const MACHINE: &str = r#"
set -euo pipefail
mount --make-rprivate /
mount -t tmpfs tmpfs /run
for directory in etc; do
  mkdir -p /run/up /run/work
  mount -t overlay overlay -o "lowerdir=/$directory,upperdir=/run/up,workdir=/run/work" "/$directory"
done
ip link set lo up
ip link add bond0 type veth peer name far0
ip link set far0 up
ip link set bond0 up
ip address add 10.64.1.3/31 dev bond0
echo "192.0.2.10 api-int.demo.example.com" >>/etc/hosts
echo "127.0.0.1 metadata.platformequinix.com" >>/etc/hosts
# Waits until a command succeeds.
eventually() { for _ in $(seq 200); do "$@" && return; sleep 0.1; done; echo "never: $*" >&2; return 1; }
"#;

fn script(endpoint: &str, name: &str) -> String {
    let rendered = Rendered::new(packet(endpoint));
    View::new(&rendered.text("bootstrap.ign")).file(&format!("/opt/landfall/bin/{name}")).to_owned()
}

/// Runs steps on a machine, with a script in its directory.
fn on_machine(directory: &Path, steps: &str) -> String {
    let all = format!("{MACHINE}\ncd '{}'\n{steps}", directory.display());
    let output = Command::new("unshare")
        .args(["--net", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", &all])
        .stdin(Stdio::null())
        .output()
        .expect("unshare runs");
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}");
    String::from_utf8(output.stdout).unwrap()
}

fn place(directory: &Path, name: &str, contents: &str) {
    let path = directory.join(name);
    fs::write(&path, contents).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn shellcheck_has_nothing_to_say() {
    let directory = tempfile::tempdir().unwrap();
    for (endpoint, name) in [("eip", "hold-endpoint"), ("bgp", "announce-endpoint")] {
        place(directory.path(), name, &script(endpoint, name));
        run("shellcheck", &[directory.path().join(name).to_str().unwrap()]);
    }
}

#[test]
fn an_address_is_held_while_the_unit_runs_and_not_longer() {
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    place(directory.path(), "hold-endpoint", &script("eip", "hold-endpoint"));
    let told = on_machine(
        directory.path(),
        r#"
        holds() { [[ $(ip -oneline address show dev lo) == *" $1/32 "* ]]; }
        lacks() { ! holds "$1"; }
        # What stopped without being told to leaves a note of what it held.
        ./hold-endpoint api-int.demo.example.com & unit=$!
        eventually holds 192.0.2.10
        # The name leads to one more address; the first stays.
        echo "192.0.2.11 api-int.demo.example.com" >>/etc/hosts
        eventually holds 192.0.2.11
        holds 192.0.2.10
        kill "$unit"; wait "$unit" || true
        holds 192.0.2.10
        ./hold-endpoint --release
        lacks 192.0.2.10; lacks 192.0.2.11
        # Once more, with nothing held: letting go of nothing is no failure.
        ./hold-endpoint --release
        # Several at once, as where masters serve applications; one that is not known keeps nobody from the others.
        ./hold-endpoint nowhere.example.com 192.0.2.30 api-int.demo.example.com & unit=$!
        eventually holds 192.0.2.30
        eventually holds 192.0.2.11
        kill "$unit"; wait "$unit" || true
        ./hold-endpoint --release
        lacks 192.0.2.30; lacks 192.0.2.11
        # An address instead of a name, as it is where it is known beforehand.
        ./hold-endpoint 192.0.2.20 & unit=$!
        eventually holds 192.0.2.20
        kill "$unit"; wait "$unit" || true
        ./hold-endpoint --release
        lacks 192.0.2.20
        echo done
        "#,
    );
    assert!(told.contains("done"), "{told}");
}

/// The metadata of a device with BGP sessions, as the platform shows it.
const METADATA: &str = r#"{
  "id": "0b4c8b1e-9f3d-4c58-8d1e-1f2e3d4c5b6a", "hostname": "demo-x7k2p-master-0",
  "network": { "addresses": [
    {"address_family": 4, "public": true, "management": true, "address": "198.51.100.3", "gateway": "198.51.100.2"},
    {"address_family": 6, "public": true, "management": true, "address": "2001:db8::3", "gateway": "2001:db8::2"},
    {"address_family": 4, "public": false, "management": true, "address": "10.64.1.3", "gateway": "10.64.1.2"}
  ]},
  "bgp_neighbors": [{
    "address_family": 4, "customer_as": 65000, "customer_ip": "10.64.1.3", "peer_as": 65530, "multihop": true,
    "md5_enabled": true, "md5_password": "Secret123456", "peer_ips": ["169.254.255.1", "169.254.255.2"]
  }]
}"#;

#[test]
fn an_address_is_announced_to_the_routers_of_the_platform() {
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    place(directory.path(), "announce-endpoint", &script("bgp", "announce-endpoint"));
    place(directory.path(), "metadata", METADATA);
    let told = on_machine(
        directory.path(),
        r#"
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -keyout tls.key -out tls.crt \
            -subj /CN=metadata.platformequinix.com -addext subjectAltName=DNS:metadata.platformequinix.com 2>/dev/null
        python3 - <<'PY' &
import http.server, ssl
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("tls.crt", "tls.key")
server = http.server.HTTPServer(("127.0.0.1", 443), http.server.SimpleHTTPRequestHandler)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
PY
        export CURL_CA_BUNDLE=$PWD/tls.crt
        manifest=/etc/kubernetes/manifests/kube-vip.yaml
        ./announce-endpoint api-int.demo.example.com & unit=$!
        # kubeadm refuses to join a machine that has static pods, so there is none before the kubelet has joined.
        sleep 1; [[ ! -e $manifest ]]
        mkdir -p /etc/kubernetes; touch /etc/kubernetes/kubelet.conf
        eventually test -e "$manifest"
        ip route show >&2
        for peer in 169.254.255.1 169.254.255.2; do
            [[ $(ip route get "$peer") == *"via 10.64.1.2 dev bond0 src 10.64.1.3"* ]]
        done
        [[ $(stat -c %a "$manifest") == 600 ]] # the passwords of the sessions are in it
        cat "$manifest"
        kill "$unit"; wait "$unit" || true
        ./announce-endpoint --release
        [[ ! -e $manifest ]]
        "#,
    );
    let pod: Value = serde_saphyr::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}"));
    let settings = pod["spec"]["containers"][0]["env"].as_array().unwrap();
    let setting = |name: &str| settings.iter().find(|one| one["name"] == name).unwrap()["value"].as_str().unwrap();
    assert_eq!((setting("address"), setting("bgp_routerid"), setting("bgp_as")), ("192.0.2.10", "10.64.1.3", "65000"));
    let peers = "169.254.255.1:65530:Secret123456:true,169.254.255.2:65530:Secret123456:true";
    assert_eq!(setting("bgp_peers"), peers);
}

#[test]
fn no_wait_for_an_announcement_is_without_end() {
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    place(directory.path(), "announce-endpoint", &script("bgp", "announce-endpoint"));
    on_machine(
        directory.path(),
        r#"
        export LANDFALL_WAIT_SECONDS=1
        # Ends in time, fails, and says what it waited for and what it saw last.
        gives_up() {
            local status=0
            timeout --kill-after 5 60 ./announce-endpoint "$1" 2>told || status=$?
            [[ $status == 1 ]] || { echo "status $status" >&2; cat told >&2; return 1; }
            grep -F "$2" told && grep -F "$3" told || { cat told >&2; return 1; }
        }
        gives_up api-int.demo.example.com "this machine to join the cluster" "there is no /etc/kubernetes/kubelet.conf"
        mkdir -p /etc/kubernetes; touch /etc/kubernetes/kubelet.conf
        gives_up nowhere.example.com "the address of nowhere.example.com" "no name server knows"
        gives_up api-int.demo.example.com "a BGP session of this machine" "curl:"
        [[ ! -e /etc/kubernetes/manifests/kube-vip.yaml ]]
        "#,
    );
}

fn is_root() -> bool {
    let is_root = run("id", &["-u"]).trim() == "0";
    if !is_root {
        eprintln!("NOT RUN: this test needs root, for network namespaces");
    }
    is_root
}
