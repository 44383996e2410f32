"""A pair of load balancers: real keepalived and HAProxy on two hosts, each a network of its own, with the files of the kit."""

import namespace

# Two hosts on a switch. Each has its own processes, so that each keepalived sees its own HAProxy only.
SCENE = r"""
set -eu
mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns
ip link set lo up
ip link add switch type bridge
ip link set switch up
sysctl -qw net.ipv6.conf.default.accept_dad=0
host='
  set -eu
  sysctl -qw net.ipv4.ip_nonlocal_bind=1 net.ipv6.ip_nonlocal_bind=1
  balance() { haproxy -db -f "$KIT/haproxy.cfg" >> "$HOME_DIR/haproxy-$NAME.log" 2>&1 & }
  # Whoever watches from outside may ask for it to be ended, and for another one.
  {
    balance
    while sleep 0.2; do
      if [ -e "$HOME_DIR/end-$NAME" ]; then kill $!; wait $! || true; rm "$HOME_DIR/end-$NAME"; fi
      if [ -e "$HOME_DIR/begin-$NAME" ]; then balance; rm "$HOME_DIR/begin-$NAME"; fi
    done
  } &
  exec keepalived --dont-fork --log-console --use-file="$KIT/keepalived-$NAME.conf" --pid="$HOME_DIR/$NAME.pid" --vrrp_pid="$HOME_DIR/$NAME-vrrp.pid" \
    > "$HOME_DIR/keepalived-$NAME.log" 2>&1
'
for number in 1 2; do
  name=lb-$number
  ip netns add $name
  ip netns exec $name sysctl -qw net.ipv6.conf.default.accept_dad=0
  ip link add v$number type veth peer name eth0 netns $name
  ip link set v$number master switch up
  ip -n $name link set lo up
  ip -n $name address add 192.168.10.$((number + 2))/24 dev eth0
  ip -n $name address add 2001:db8::$((number + 2))/64 dev eth0 nodad
  ip -n $name link set eth0 up
  NAME=$name ip netns exec $name unshare --pid --mount-proc --fork --kill-child bash -c "$host" &
done
# Waits until all addresses are at a host, and at it alone.
are_at() {
  for try in $(seq 600); do
    here=$(ip -n $1 -o address show dev eth0) there=$(ip -n $2 -o address show dev eth0) all=yes
    for vip in 192.168.10.5/32 192.168.10.6/32 2001:db8::5/128 2001:db8::6/128; do
      case $here in *"$vip "*) ;; *) all=no ;; esac
      case $there in *"$vip "*) all=no ;; esac
    done
    if [ $all = yes ]; then echo "the addresses are at $1"; return; fi
    sleep 0.2
  done
  echo "the addresses are not at $1: $here / $there"
  tail -n 20 "$HOME_DIR"/*.log
  exit 1
}
are_at lb-1 lb-2
touch "$HOME_DIR/end-lb-1"
are_at lb-2 lb-1
touch "$HOME_DIR/begin-lb-1"
are_at lb-1 lb-2
"""


def test_the_addresses_are_where_a_balancer_runs(labs):
    lab, _ = labs("pair")
    lab.make_dual()
    lab.landfall("upi", "create")
    inventory = lab.kit / "inventory.yml"
    pair = "".join(f"      - {{name: lb-{n}, addresses: [192.168.10.{n + 2}, '2001:db8::{n + 2}'], interface: eth0}}\n" for n in [1, 2])
    text = inventory.read_text()
    assert "load_balancers: []" in text
    inventory.write_text(text.replace("load_balancers: []", "load_balancers:\n" + pair))
    lab.landfall("upi", "create")
    home = lab.directory / "pair"
    home.mkdir()
    done = namespace.run(SCENE, {**lab.environment(), "KIT": str(lab.kit / "load-balancer"), "HOME_DIR": str(home)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [f"the addresses are at lb-{n}" for n in [1, 2, 1]]
