//! Joining, with a kubeadm that only notes how it is called.

use std::fs;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;

use crate::segment::Segment;

const API: &str = "198.51.100.5";

/// Deletes what the real one deletes, and joins with one token only.
const KUBEADM: &str = r#"#!/bin/sh
echo "$@" >>"$LOGS/kubeadm.calls"
case $1 in
reset) rm -rf /etc/kubernetes/* /var/lib/etcd/* ;;
join) grep -q new.token "$3" || { mkdir -p /etc/kubernetes; touch /etc/kubernetes/bootstrap-kubelet.conf; exit 1; } ;;
esac
"#;

/// What an API server and a config server answer, as far as joining needs it.
const SERVER: &str = r"
import http.server, ssl, sys, threading
config = open(sys.argv[3], 'rb').read()
class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status, body = 404, b''
        if self.path == '/readyz': status, body = 200, b'ok'
        if self.path == '/config/worker':
            status, body = (200, config) if self.headers.get('Authorization') == 'Bearer secret' else (401, b'')
        self.send_response(status); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
    def log_message(self, *arguments): pass
for port in 6443, 22623:
    server = http.server.ThreadingHTTPServer(('', port), Server)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever).start()
";

/// Puts a program into the path of the machine, and joins.
const JOIN: &str = r#"
mkdir -p /run/bin && cp "$PAYLOAD/kubeadm" /run/bin/ && chmod +x /run/bin/kubeadm
PATH=/run/bin:$PATH "$PROGRAM" join >"$LOGS/join.log" 2>&1 &
"#;

#[test]
fn a_master_that_reboots_while_the_api_is_away_keeps_its_etcd_data() {
    let Some(mut segment) = Segment::start("master", &[]) else { return };
    fs::write(segment.directory().join("kubeadm"), KUBEADM).unwrap();
    // As kubeadm writes it, for an address at which nobody answers.
    let pair = rcgen::generate_simple_self_signed(["demo-x7k2p-master-0".to_owned()]).unwrap();
    let (certificate, key) = (STANDARD.encode(pair.cert.pem()), STANDARD.encode(pair.signing_key.serialize_pem()));
    let kubeconfig = json!({
        "clusters": [{ "name": "demo", "cluster": {
            "server": format!("https://{API}:6443"), "certificate-authority-data": certificate,
        } }],
        "users": [{ "name": "admin", "user": { "client-certificate-data": certificate, "client-key-data": key } }],
    });
    fs::write(segment.directory().join("kubeconfig"), kubeconfig.to_string()).unwrap();
    segment.connect("m0", "198.51.100.21");
    // All that a master has; the file that says that it joined was lost with the power.
    let disk = r"
        mkdir -p /etc/kubernetes/manifests /var/lib/etcd/member/wal
        cp $PAYLOAD/kubeconfig /etc/kubernetes/admin.conf; cp $PAYLOAD/kubeconfig /etc/kubernetes/kubelet.conf
        touch /etc/kubernetes/manifests/etcd.yaml /var/lib/etcd/member/wal/0.wal /var/lib/landfall/join.begun
    ";
    segment.boot_with("m0", "demo-x7k2p-master-0", &format!("{disk}{JOIN}"));
    let waits = "this machine is not reset while the cluster cannot be asked";
    segment.wait_for_log("m0", "join.log", waits, || {
        assert_eq!(segment.log("m0", "kubeadm.calls"), "", "etcd's data are gone");
    });
}

#[test]
fn a_worker_whose_token_has_ended_fetches_another() {
    let Some(mut segment) = Segment::start("worker", &[]) else { return };
    let kubeadm = |token: &str| format!("kind: JoinConfiguration\ndiscovery: {{bootstrapToken: {{token: {token}}}}}\n");
    let data = |text: &str| format!("data:,{}", text.replace('\n', "%0A").replace(' ', "%20"));
    let served = json!({ "ignition": { "version": "3.3.0" }, "storage": { "files": [
        { "path": "/etc/landfall/kubeadm.yaml", "contents": { "source": data(&kubeadm("new.token")) } },
    ] } });
    let pair = rcgen::generate_simple_self_signed([API.to_owned()]).unwrap();
    let source = json!({
        "url": format!("https://{API}:22623/config/worker"), "authority": pair.cert.pem(),
    });
    for (file, contents) in [
        ("kubeadm", KUBEADM.to_owned()),
        ("kubeadm.yaml", kubeadm("ended.token")),
        ("config-source.json", source.to_string()),
        ("credential", "secret".to_owned()),
        ("served.ign", served.to_string()),
        ("server.py", SERVER.to_owned()),
        ("tls.crt", pair.cert.pem()),
        ("tls.key", pair.signing_key.serialize_pem()),
    ] {
        fs::write(segment.directory().join(file), contents).unwrap();
    }
    segment.connect("c", API);
    let serve = "cd \"$PAYLOAD\" && python3 server.py tls.crt tls.key served.ign >\"$LOGS/server.log\" 2>&1 &";
    segment.boot_with("c", "control-plane", serve);
    segment.connect("w0", "198.51.100.31");
    let disk = "cp \"$PAYLOAD/kubeadm.yaml\" \"$PAYLOAD/config-source.json\" \"$PAYLOAD/credential\" /etc/landfall/\n";
    segment.boot_with("w0", "demo-x7k2p-worker-0", &format!("{disk}{JOIN}"));
    segment.wait_for_log("w0", "join.log", "this machine has joined the cluster", || ());
    let calls = segment.log("w0", "kubeadm.calls");
    let verbs: Vec<&str> = calls.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(verbs, ["join", "reset", "join"], "{calls}");
}
