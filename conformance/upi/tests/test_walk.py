"""The whole walk of docs/platforms/ovirt-upi.md, with a real Ansible, a real BIND and a real HAProxy."""

import json
import subprocess

import pytest


@pytest.fixture(scope="module")
def walk(labs):
    return labs("walk")


def names(lab):
    return [m["name"] for m in json.loads((lab.kit / "machines.json").read_text())["machines"]]


# The steps below are one story, told in order.


def test_kit_and_machines(walk):
    lab, engine = walk
    lab.landfall("upi", "create")
    assert lab.play(engine, "image.yml").changed() == []
    dry = lab.play(engine, "vms.yml", check=True)
    assert "Make the machines" in dry.changed() and dry.writes() == []
    made = lab.play(engine, "vms.yml")
    assert "Make the machines" in made.changed()
    assert len(names(lab)) == 6
    again = lab.play(engine, "vms.yml")
    assert again.changed() == [] and again.writes() == []


def test_the_configs_of_all_machines_are_valid(walk):
    lab, _ = walk
    for config in sorted((lab.kit / "ignition").iterdir()):
        done = subprocess.run(["ignition-validate", config], capture_output=True, text=True)
        assert done.returncode == 0, f"{config.name}: {done.stdout}{done.stderr}"
        assert config.stat().st_mode & 0o777 == 0o600


def test_dhcp_is_fed_from_the_machines(walk):
    lab, _ = walk
    reservations = lab.kit / "dhcp" / "dnsmasq.conf"
    assert "dhcp-host=" not in reservations.read_text()
    lab.landfall("upi", "create")
    assert reservations.read_text().count("dhcp-host=") == 6


def test_name_server_and_load_balancer(walk):
    lab, _ = walk
    lab.start_named()
    lab.start_haproxy()


def test_nothing_is_started_in_check_mode(walk):
    lab, engine = walk
    dry = lab.play(engine, "bootstrap.yml", check=True)
    assert dry.changed() == ["Switch on what is off"] and dry.writes() == []


def test_control_plane(walk):
    lab, engine = walk
    for playbook in ["bootstrap.yml", "masters.yml"]:
        assert lab.play(engine, playbook).changed() == ["Switch on what is off"]
        again = lab.play(engine, playbook)
        assert again.changed() == [] and again.writes() == []
    lab.landfall("wait-for", "bootstrap-complete")


def test_the_bootstrap_machine_goes_and_workers_come(walk):
    lab, engine = walk
    dry = lab.play(engine, "retire-bootstrap.yml", check=True)
    assert dry.changed() == ["Remove the machines"] and dry.writes() == []
    assert lab.play(engine, "retire-bootstrap.yml").changed() == ["Remove the machines"]
    again = lab.play(engine, "retire-bootstrap.yml")
    assert again.changed() == [] and again.writes() == []
    inventory = lab.kit / "inventory.yml"
    lines = inventory.read_text().splitlines(keepends=True)
    inventory.write_text("".join(line for line in lines if "role: bootstrap" not in line))
    lab.landfall("upi", "create")
    assert "bootstrap" not in (lab.kit / "load-balancer" / "haproxy.cfg").read_text()
    assert lab.play(engine, "workers.yml").changed() == ["Switch on what is off"]
    done = lab.landfall("wait-for", "install-complete")
    assert sum("ready" in line for line in done.stdout.splitlines()) == 5


def test_machines_have_the_addresses_that_were_reserved(walk):
    lab, engine = walk
    machines = json.loads((lab.kit / "machines.json").read_text())["machines"]
    expected = {m["name"]: m["addresses"][0] for m in machines if "bootstrap" not in m["name"]}
    state = json.dumps(engine.admin("GET", "/guests"))
    for name, address in expected.items():
        assert f"{name} is up at {address}" in lab.console(engine, name), state


def test_everything_goes(walk):
    lab, engine = walk
    for playbook in ["retire-workers.yml", "retire-masters.yml"]:
        assert lab.play(engine, playbook).changed() == ["Remove the machines"]
    assert lab.play(engine, "retire-all.yml").changed() == ["Remove the affinity groups", "Remove the tag"]
    again = lab.play(engine, "retire-all.yml")
    assert again.changed() == [] and again.writes() == []
    assert "nothing carries the cluster's mark" in lab.landfall("destroy", "cluster", "--dry-run").stdout
