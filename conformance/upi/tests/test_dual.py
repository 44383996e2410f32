"""Addresses of both families: real BIND and HAProxy answer for both, and the checks look at both; in a network of its own."""

import json
import re

import namespace
import pytest

# Every address of the site is this host's own. A server that the cluster's CA vouches for stands where the bootstrap machine would.
SCENE = r"""
set -eu
ip link set lo up
for address in 192.168.10.{5,6,16}; do ip address add $address/32 dev lo; done
for address in 2001:db8::{5,6,10}; do ip address add $address/128 dev lo nodad; done
cd "$HOME_DIR"
cat > named.conf.all <<END
options { directory "$HOME_DIR"; listen-on port 53 { 127.0.0.1; }; listen-on-v6 port 53 { ::1; }; pid-file none; session-keyfile none;
  recursion no; dnssec-validation no; empty-zones-enable no; notify no; };
controls { };
END
cat named.conf >> named.conf.all
named -g -c named.conf.all > named.log 2>&1 &
haproxy -db -f "$KIT/load-balancer/haproxy.cfg" > haproxy.log 2>&1 &
"$PYTHON" "$SERVER" 192.168.10.16 6443 "$HOME_DIR/api.pem" "$HOME_DIR/api.key" &
until dig +short +tries=1 +timeout=1 @::1 demo.example.com SOA | grep -q . && [ -n "$(ss -Hltn 'sport = :6443 and src [2001:db8::5]')" ]; do
  kill -0 %1 && kill -0 %2 || { cat named.log haproxy.log; exit 1; }
  sleep 0.1
done
check() { "$LANDFALL_BIN" upi check "$@" --dir "$INSTALL" --output json; }
check dns --resolver 127.0.0.1 --resolver ::1 > dns.json
check lb > lb.json

# One name without its second address, and one address without its name.
sed -i -e '/^api IN AAAA/d' -e 's/( 1 /( 2 /' db.demo.example.com
sed -i -e '/PTR.*-master-0/d' -e 's/( 1 /( 2 /' db.*.ip6.arpa
kill -HUP %1
until dig +short @::1 api.demo.example.com AAAA | { ! grep -q .; }; do sleep 0.1; done
! check dns --resolver ::1 > wrong-dns.json

# HAProxy as somebody configured it who forgot the other family.
kill %2; wait %2 || true
sed '/bind \[/d' "$KIT/load-balancer/haproxy.cfg" > four.cfg
haproxy -db -f four.cfg > haproxy.log 2>&1 &
until [ -n "$(ss -Hltn 'sport = :443')" ]; do sleep 0.1; done
! check lb > wrong-lb.json
"""


@pytest.fixture(scope="module")
def seen(labs):
    lab, _ = labs("dual", masters=1, workers=1)
    lab.make_dual()
    lab.landfall("upi", "create")
    home = lab.directory / "dual"
    home.mkdir()
    for path in (lab.kit / "dns").iterdir():
        (home / path.name).write_text(path.read_text())
    lab.certificate(home, "api", "api.demo.example.com")
    environment = {
        **{name: value for name, value in lab.environment().items() if not name.startswith("LANDFALL_DNS")},
        "KIT": str(lab.kit),
        "INSTALL": str(lab.install),
        "HOME_DIR": str(home),
        "PYTHON": lab.python,
        "SERVER": lab.server,
    }
    done = namespace.run(SCENE, environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return lab, {path.stem: json.loads(path.read_text())["findings"] for path in home.glob("*.json")}


def messages(findings, verdict):
    return [f["message"] for f in findings if f["verdict"] == verdict]


def test_names_of_both_families(seen):
    _, found = seen
    assert [re.sub(r"\d+ names", "N names", m) for m in messages(found["dns"], "ok")] == [
        f"{resolver}:53 knows all N names, forth and back" for resolver in ["127.0.0.1", "[::1]"]
    ]
    assert messages(found["dns"], "problem") == []
    first, second = [f for f in found["wrong-dns"] if f["verdict"] == "problem"]
    problems = {f["message"].split(" knows ")[1]: f["hint"] for f in [first, second]}
    reverse = "1.1" + ".0" * 22 + ".8.b.d.0.1.0.0.2.ip6.arpa"
    assert problems["no AAAA record of api.demo.example.com"] == "api.demo.example.com. 300 IN AAAA 2001:db8::5"
    (pointer,) = [hint for message, hint in problems.items() if "PTR" in message]
    assert re.fullmatch(rf"{re.escape(reverse)}\. 300 IN PTR demo-\w+-master-0\.demo\.example\.com\.", pointer), pointer


def test_ports_of_both_families(seen):
    _, found = seen
    assert messages(found["lb"], "problem") == []
    assert [m for m in messages(found["lb"], "ok") if "6443" in m] == [
        f"{address}:6443 leads to 1 of 2 machines" for address in ["192.168.10.5", "[2001:db8::5]"]
    ]
    wrong = messages(found["wrong-lb"], "problem")
    assert [m.split(" ")[0] for m in wrong] == [f"[2001:db8::{n}]:{port}" for n, port in [(5, 6443), (5, 22623), (6, 80), (6, 443)]]
    assert all("does not take connections" in m for m in wrong)
