"""The whole walk of docs/platforms/ovirt-upi.md, as the page says it, with a real Ansible, a real BIND and a real HAProxy, and
machines with addresses of both families. Every playbook is also played in check mode before, and once more after."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

import namespace
import pytest

from page import Page
from simulator import wait_for

pytestmark = pytest.mark.story

SIX = "fd66:"


@pytest.fixture(scope="module")
def network():
    """A network with the IPv6 addresses of the site: those of the load balancer, and as many as the inventory proposes."""
    with namespace.loopback(*(f"{SIX}:{n:x}" for n in [5, 6, *range(16, 22)])):
        yield


@pytest.fixture(scope="module")
def walk(network, labs):
    lab, engine = labs("walk", six=SIX)
    return lab, engine, Page(lab)


def names(lab):
    return [m["name"] for m in json.loads((lab.kit / "machines.json").read_text())["machines"]]


def all_at_once(lab, engine, playbooks, **how):
    """Plays that change nothing do not disturb each other; that none wrote anything is seen in what all of them sent."""
    with ThreadPoolExecutor() as pool:
        return zip(playbooks, pool.map(lambda playbook: lab.play(engine, playbook, **how), playbooks))


def nothing_changes(lab, engine, *playbooks):
    """A second time there is nothing to do."""
    for playbook, again in all_at_once(lab, engine, playbooks):
        assert again.changed() == [] and again.writes() == [] and again.stats["changed"] == 0, playbook


def only_tell(lab, engine, expected):
    """In check mode playbooks say what they would do, and do nothing."""
    for playbook, dry in all_at_once(lab, engine, list(expected), check=True):
        assert dry.changed() == expected[playbook] and dry.writes() == [], playbook


def nodes(lab):
    """The nodes, asked for at the IPv6 address of the API."""
    config = lab.install / "auth" / "kubeconfig"
    command = ["kubectl", f"--kubeconfig={config}", f"--server=https://[{SIX}:5]:6443", "--tls-server-name=api.demo.example.com"]
    done = subprocess.run([*command, "get", "nodes", "-o", "json"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["items"]


# The steps below are one story, told in order.


def test_the_kit(walk):
    lab, engine, page = walk
    page.obey(0, "landfall upi create", lab.directory)
    assert "dhcp-host=" not in (lab.kit / "dhcp" / "dnsmasq.conf").read_text()
    (_, image), (_, dry) = all_at_once(lab, engine, ["image.yml", "vms.yml"], check=True)
    assert image.changed() == [] and "Make the machines" in dry.changed() and image.writes() == dry.writes() == []
    assert not (lab.kit / "machines.json").exists()


def test_the_cluster_leaves_the_machines_to_the_user(walk):
    """Nothing in it could make or start one, and nothing in it knows the engine's password."""
    lab, engine, _ = walk
    manifests = sorted(path.name for path in (lab.install / "manifests").iterdir())
    assert manifests and not [name for name in manifests if "machine" in name or "credentials" in name or "user-data" in name]
    for path in [*lab.install.glob("*.ign"), *lab.kit.rglob("*"), *(lab.install / "manifests").iterdir()]:
        if path.is_file():
            assert engine.password not in path.read_text(), path


def test_machines_are_made(walk):
    lab, engine, page = walk
    printed = page.obey(1, "cd demo/upi", lab.directory)
    assert len(names(lab)) == 6 and all(name in printed for name in names(lab))
    # DHCP is fed from them.
    assert (lab.kit / "dhcp" / "dnsmasq.conf").read_text().count("dhcp-host=") == 6
    nothing_changes(lab, engine, "image.yml", "vms.yml")


def test_the_configs_of_all_machines_are_valid(walk):
    lab, _, _ = walk
    for config in sorted((lab.kit / "ignition").iterdir()):
        done = subprocess.run(["ignition-validate", config], capture_output=True, text=True)
        assert done.returncode == 0, f"{config.name}: {done.stdout}{done.stderr}"
        assert config.stat().st_mode & 0o777 == 0o600


def test_files_go_where_servers_look_for_them(walk):
    lab, _, page = walk

    def serve(process, log):
        done = lambda: process.poll() is not None or (page.site / "copied").exists()  # noqa: E731
        wait_for("the files to be copied", done, bool)
        assert process.poll() is None, log.read_text()
        lab.start_named(page.site / "ns1/var/cache/bind", page.site / "ns1/etc/bind/named.conf.landfall")
        lab.start_haproxy(page.site / "lb1/etc/haproxy/haproxy.cfg")
        (page.site / "serving").touch()

    printed = page.obey(2, "scp dns/db.*", lab.kit, serve)
    assert '"verdict":"ok"' in printed.replace(" ", "") or "knows all" in printed
    kea = page.site / "dhcp1/etc/kea/kea-dhcp4.conf"
    subprocess.run(["kea-dhcp4", "-t", kea], check=True, capture_output=True)
    assert kea.read_text().count("hw-address") == 6


def test_control_plane(walk):
    lab, engine, page = walk
    only_tell(lab, engine, {playbook: ["Switch on what is off"] for playbook in ["bootstrap.yml", "masters.yml"]})
    page.obey(3, "ansible-playbook -i inventory.yml bootstrap.yml", lab.kit)
    # Masters are of type high performance, which goes without a screen.
    assert sum(r["method"] == "DELETE" and "/graphicsconsoles/" in r["path"] for r in engine.requests()) >= 3
    nothing_changes(lab, engine, "bootstrap.yml", "masters.yml")


def test_the_bootstrap_machine_goes_and_workers_come(walk):
    lab, engine, page = walk
    only_tell(lab, engine, {"retire-bootstrap.yml": ["Remove the machines"], "workers.yml": ["Switch on what is off"]})
    printed = page.obey(4, "ansible-playbook -i inventory.yml retire-bootstrap.yml", lab.kit)
    assert sum("ready" in line for line in printed.splitlines() if "-master-" in line or "-worker-" in line) == 5, printed
    nothing_changes(lab, engine, "retire-bootstrap.yml", "workers.yml")
    inventory = lab.kit / "inventory.yml"
    lines = inventory.read_text().splitlines(keepends=True)
    inventory.write_text("".join(line for line in lines if "role: bootstrap" not in line))
    lab.landfall("upi", "create")
    assert "bootstrap" not in (lab.kit / "load-balancer" / "haproxy.cfg").read_text()


def test_machines_have_the_addresses_that_were_reserved(walk):
    lab, engine, _ = walk
    machines = json.loads((lab.kit / "machines.json").read_text())["machines"]
    expected = {m["name"]: m["addresses"] for m in machines if "bootstrap" not in m["name"]}
    state = json.dumps(engine.admin("GET", "/guests"))
    for name, (four, six) in expected.items():
        console = lab.console(engine, name)
        assert f"{name} is up at {four} and {six}" in console, state
        # By name, over IPv6, through the load balancer.
        assert f"bytes from [{SIX}:5]:22623" in console, console
    (node,) = [n for n in nodes(lab) if n["metadata"]["name"].endswith("-worker-0")]
    own = [a["address"] for a in node["status"]["addresses"] if a["type"] == "InternalIP"]
    assert own == expected[node["metadata"]["name"]]


def test_everything_goes(walk):
    lab, engine, page = walk
    retiring = ["retire-workers.yml", "retire-masters.yml"]
    only_tell(lab, engine, {playbook: ["Remove the machines"] for playbook in retiring})
    for playbook in retiring:
        assert lab.play(engine, playbook).changed() == ["Remove the machines"]
    nothing_changes(lab, engine, *retiring)
    only_tell(lab, engine, {"retire-all.yml": ["Remove the affinity groups", "Remove the tag"]})
    page.obey(5, "ansible-playbook -i inventory.yml retire-all.yml", lab.kit)
    nothing_changes(lab, engine, "retire-all.yml")
    assert "nothing carries the cluster's mark" in lab.landfall("destroy", "cluster", "--dry-run").stdout


def test_every_block_was_obeyed(walk):
    assert len(walk[2].blocks) == 6
