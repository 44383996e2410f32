"""Real DHCP servers, with the files of the kit, give a real DHCP client what was reserved; in a network of their own."""

import re

import namespace
import pytest

# The server is at one end of a cable and the client at the other, with one hardware address after the other.
SCENE = r"""
set -eu
mount -t tmpfs tmpfs /run/netns 2>/dev/null || { mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns; }
ip netns add client
ip link set lo up
# Nobody else is here, so nobody has to be asked for whom an address is.
sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec client sysctl -qw net.ipv6.conf.default.accept_dad=0
ip link add s0 type veth peer name c0 netns client
ip address add 192.168.10.1/24 dev s0
ip address add 2001:db8::1/64 dev s0 nodad
ip link set s0 up
mkdir -p "$HOME_DIR"
for dir in /run/kea /var/lib/kea; do mkdir -p $dir && mount -t tmpfs tmpfs $dir; done
export KEA_PIDFILE_DIR=/run/kea KEA_LOCKFILE_DIR=none
# A server binds to the link's own address, which is there once the other end is up.
ip -n client link set c0 up
until ip -6 address show dev s0 scope link | grep -q fe80; do sleep 0.1; done
case $SERVER-$FAMILY in
  dnsmasq-*) dnsmasq --keep-in-foreground --conf-file="$KIT/dnsmasq.conf" --interface=s0 --bind-interfaces --port=0 \
    --dhcp-leasefile="$HOME_DIR/leases" --pid-file= --user=root --log-facility=- ;;
  dhcpd-4) touch "$HOME_DIR/leases"; dhcpd -4 -f -cf "$KIT/dhcpd.conf" -lf "$HOME_DIR/leases" --no-pid -user root -group root s0 ;;
  dhcpd-6) touch "$HOME_DIR/leases"; dhcpd -6 -f -cf "$KIT/dhcpd6.conf" -lf "$HOME_DIR/leases" --no-pid -user root -group root s0 ;;
  kea-4) kea-dhcp4 -c "$KIT/kea-dhcp4.json" ;;
  kea-6) kea-dhcp6 -c "$KIT/kea-dhcp6.json" ;;
esac > "$HOME_DIR/server.log" 2>&1 &
for mac in $MACS; do
  ip -n client link set c0 down
  ip -n client link set c0 address "$mac"
  ip -n client link set c0 up
  until ip -n client -6 address show dev c0 scope link | grep -q fe80; do sleep 0.1; done
  rm -f "$HOME_DIR/client"
  touch "$HOME_DIR/client"
  # In the way of the machines' NetworkManager: the identifier holds the hardware address.
  timeout 60 ip netns exec client dhclient -$FAMILY $(if [ $FAMILY = 6 ]; then echo -D LL; fi) -1 -d -cf /dev/null -sf /bin/true \
    -lf "$HOME_DIR/client" -pf "$HOME_DIR/client.pid" c0 > "$HOME_DIR/client.log" 2>&1 &
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
    lab.make_dual()
    lab.landfall("upi", "create")
    inventory = lab.kit / "inventory.yml"
    number = iter(range(1, 100))
    text = re.sub(r"(, addresses: \[192[^\]]*\])", lambda found: f'{found[1]}, mac: "56:6f:00:00:00:{next(number):02x}"', inventory.read_text())
    assert "dhcp_interface: eth0" in text
    inventory.write_text(text.replace("dhcp_interface: eth0", "dhcp_interface: s0"))
    lab.landfall("upi", "create")
    machines = re.findall(r"name: (\S+), role: .*addresses: \[([^,]*), \"?([^\"\]]*)\"?\], mac: \"([^\"]*)\"", text)
    assert len(machines) == 6
    return lab, machines


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("server", ["dnsmasq", "dhcpd", "kea"])
def test_a_client_gets_what_was_reserved_for_it(kit, server, family):
    lab, machines = kit
    home = lab.directory / f"{server}-{family}"
    # Some of each role are enough: each costs a client its patience.
    chosen = machines[:3] if family == 4 else machines[:2]
    environment = {
        **lab.environment(),
        "SERVER": server,
        "FAMILY": str(family),
        "KIT": str(lab.kit / "dhcp"),
        "HOME_DIR": str(home),
        "MACS": " ".join(mac for *_, mac in chosen),
    }
    done = namespace.run(SCENE, environment)
    log = home / "server.log"
    assert done.returncode == 0, done.stdout + done.stderr + (log.read_text() if log.exists() else "")
    for name, four, six, mac in chosen:
        (lease,) = [line for line in done.stdout.splitlines() if line.startswith(mac)]
        if family == 4:
            assert f"fixed-address {four};" in lease, lease
            assert f'option host-name "{name}";' in lease, lease
            assert "option routers 192.168.10.1;" in lease and 'option domain-name "demo.example.com";' in lease, lease
        else:
            assert f"iaaddr {six} {{" in lease, lease
            assert "option dhcp6.name-servers 2001:db8::1;" in lease, lease
