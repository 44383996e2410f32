"""Real DHCP servers, with the files of the kit, give a real DHCP client what was reserved; in a network of their own."""

import re
import subprocess

import pytest

# Everything here dies with the shell: it is the first process of a process namespace. The server is at one end of a cable and
# the client at the other, with one hardware address after the other.
SCENE = r"""
set -eu
mount -t tmpfs tmpfs /run/netns 2>/dev/null || { mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns; }
ip netns add client
ip link set lo up
ip link add s0 type veth peer name c0 netns client
ip address add 192.168.10.1/24 dev s0
ip link set s0 up
mkdir -p "$HOME_DIR"
for dir in /run/kea /var/lib/kea; do mkdir -p $dir && mount -t tmpfs tmpfs $dir; done
export KEA_PIDFILE_DIR=/run/kea KEA_LOCKFILE_DIR=none
case $SERVER in
  dnsmasq) dnsmasq --keep-in-foreground --conf-file="$KIT/dnsmasq.conf" --interface=s0 --bind-interfaces --port=0 \
    --dhcp-leasefile="$HOME_DIR/leases" --pid-file= --user=root --log-facility=- ;;
  dhcpd) touch "$HOME_DIR/leases"; dhcpd -4 -f -cf "$KIT/dhcpd.conf" -lf "$HOME_DIR/leases" --no-pid -user root -group root s0 ;;
  kea) kea-dhcp4 -c "$KIT/kea-dhcp4.json" ;;
esac > "$HOME_DIR/server.log" 2>&1 &
for mac in $MACS; do
  ip -n client link set c0 down
  ip -n client link set c0 address "$mac"
  ip -n client link set c0 up
  rm -f "$HOME_DIR/client"
  touch "$HOME_DIR/client"
  timeout 60 ip netns exec client dhclient -4 -1 -d -cf /dev/null -sf /bin/true -lf "$HOME_DIR/client" -pf "$HOME_DIR/client.pid" c0 \
    > "$HOME_DIR/client.log" 2>&1 &
  client=$!
  until grep -q '^}' "$HOME_DIR/client"; do
    kill -0 $client 2>/dev/null || { echo "no lease for $mac"; cat "$HOME_DIR/client.log" "$HOME_DIR/server.log"; exit 1; }
    sleep 0.1
  done
  kill $client 2>/dev/null || true
  wait $client 2>/dev/null || true
  echo "$mac $(tr '\n' ' ' < "$HOME_DIR/client")"
done
"""


@pytest.fixture(scope="module")
def kit(labs):
    lab, _ = labs("dhcp")
    config = lab.install / "install-config.yaml"
    config.write_text(config.read_text().replace(f"{lab.prefix}.0/16", "192.168.10.0/24").replace(f"{lab.prefix}.", "192.168.10."))
    lab.landfall("upi", "create")
    inventory = lab.kit / "inventory.yml"
    number = iter(range(1, 100))
    text = re.sub(r"(, addresses: \[192[^\]]*\])", lambda found: f'{found[1]}, mac: "56:6f:00:00:00:{next(number):02x}"', inventory.read_text())
    inventory.write_text(text)
    lab.landfall("upi", "create")
    machines = re.findall(r"name: (\S+), role: .*addresses: \[([^\]]*)\], mac: \"([^\"]*)\"", text)
    assert len(machines) == 6
    return lab, machines


@pytest.mark.parametrize("server", ["dnsmasq", "dhcpd", "kea"])
def test_a_client_gets_what_was_reserved_for_it(kit, server):
    lab, machines = kit
    environment = {
        **lab.environment(),
        "SERVER": server,
        "KIT": str(lab.kit / "dhcp"),
        "HOME_DIR": str(lab.directory / server),
        # Some of each role are enough: each costs a client its patience.
        "MACS": " ".join(mac for _, _, mac in machines[:3]),
    }
    command = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", SCENE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    log = lab.directory / server / "server.log"
    assert done.returncode == 0, done.stdout + done.stderr + (log.read_text() if log.exists() else "")
    for name, address, mac in machines[:3]:
        (lease,) = [line for line in done.stdout.splitlines() if line.startswith(mac)]
        assert f"fixed-address {address};" in lease, lease
        assert f'option host-name "{name}";' in lease, lease
        assert "option routers 192.168.10.1;" in lease and 'option domain-name "demo.example.com";' in lease, lease
