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
# Nothing else is on the cable, so that no address has to be defended.
sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec client sysctl -qw net.ipv6.conf.default.accept_dad=0
ip link add s0 type veth peer name c0 netns client
ip address add 192.168.10.1/24 dev s0
ip address add 2001:db8::1/64 dev s0 nodad
ip link set s0 up
mkdir -p "$HOME_DIR"
for dir in /run/kea /var/lib/kea; do mkdir -p $dir && mount -t tmpfs tmpfs $dir; done
export KEA_PIDFILE_DIR=/run/kea KEA_LOCKFILE_DIR=none

# wait_until MESSAGE COMMAND... waits for a command to succeed, and shows what was seen last if it never does.
wait_until() {
  local message=$1 end=$((SECONDS + 120))
  shift
  until "$@"; do
    if [ $SECONDS -gt $end ]; then echo "$message; last seen: $seen"; cat "$HOME_DIR"/*.log; exit 1; fi
    sleep 0.1
  done
}
# has_link_local DEVICE [OPTION...] looks for the link-local address that follows from the hardware address which a device has now. Without
# duplicate address detection it still is tentative until a worker of the kernel has seen it: until then no socket can be bound to it.
has_link_local() {
  local device=$1 mac own
  shift
  mac=$(ip "$@" -o link show dev "$device" | sed 's/.*link.ether \([0-9a-f:]*\).*/\1/')
  IFS=: read -r a b c d e f <<< "$mac"
  own=$(printf 'fe80::%x:%x:%x:%x' $((0x$a << 8 ^ 0x200 | 0x$b)) $((0x$c << 8 | 0xff)) $((0xfe00 | 0x$d)) $((0x$e << 8 | 0x$f)))
  seen=$(ip "$@" -6 -o address show dev "$device" scope link)
  case $seen in *" $own/"*) ;; *) seen="$seen (and $mac has $own)"; return 1 ;; esac
  case $seen in *tentative* | *dadfailed*) return 1 ;; esac
}
listens() {
  kill -0 $server 2>/dev/null || { echo "the server has ended"; cat "$HOME_DIR/server.log"; exit 1; }
  seen=$(ss -Hlun "sport = :$1")
  [ -n "$seen" ]
}

# A server binds to the link's own address, which is there once the other end is up.
ip -n client link set c0 up
wait_until "s0 has no link-local address" has_link_local s0
case $SERVER-$FAMILY in
  dnsmasq-*) dnsmasq --keep-in-foreground --conf-file="$KIT/dnsmasq.conf" --interface=s0 --bind-interfaces --port=0 \
    --dhcp-leasefile="$HOME_DIR/leases" --pid-file= --user=root --log-facility=- ;;
  dhcpd-4) touch "$HOME_DIR/leases"; dhcpd -4 -f -cf "$KIT/dhcpd.conf" -lf "$HOME_DIR/leases" --no-pid -user root -group root s0 ;;
  dhcpd-6) touch "$HOME_DIR/leases"; dhcpd -6 -f -cf "$KIT/dhcpd6.conf" -lf "$HOME_DIR/leases" --no-pid -user root -group root s0 ;;
  kea-4) kea-dhcp4 -c "$KIT/kea-dhcp4.json" ;;
  kea-6) kea-dhcp6 -c "$KIT/kea-dhcp6.json" ;;
esac > "$HOME_DIR/server.log" 2>&1 &
server=$!
wait_until "the server does not listen" listens $([ $FAMILY = 4 ] && echo 67 || echo 547)
for mac in $MACS; do
  ip -n client link set c0 down
  ip -n client link set c0 address "$mac"
  ip -n client link set c0 up
  wait_until "c0 has no link-local address" has_link_local c0 -n client
  wait_until "s0 has lost its link-local address" has_link_local s0
  rm -f "$HOME_DIR/client"
  touch "$HOME_DIR/client"
  # In the way of the machines' NetworkManager: the identifier holds the hardware address.
  timeout 150 ip netns exec client dhclient -$FAMILY $(if [ $FAMILY = 6 ]; then echo -D LL; fi) -1 -d -cf /dev/null -sf /bin/true \
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
