"""What a user may choose: where credentials come from, and hardware addresses."""

import json
import re
import subprocess

import pytest


@pytest.fixture(scope="module")
def lab_and_engine(labs):
    lab, engine = labs("options", masters=1, workers=0)
    lab.landfall("upi", "create")
    return lab, engine


NO_FILE = {"OVIRT_CONFIG": "/nonexistent"}


def test_credentials_from_the_environment(lab_and_engine):
    lab, engine = lab_and_engine
    environment = {
        **NO_FILE,
        "OVIRT_URL": engine.api_url,
        "OVIRT_USERNAME": engine.user,
        "OVIRT_PASSWORD": engine.password,
        "OVIRT_CAFILE": engine.ca_file,
    }
    assert lab.play(engine, "image.yml", environment=environment).changed() == []
    lab.play(engine, "image.yml", environment={**environment, "OVIRT_PASSWORD": "wrong"}, fails=True)
    # The checks find them in the same places, and nobody sees them.
    found = lab.check("ovirt", expect=4, environment=environment)
    assert {f["message"].split(" demo-")[0] for f in found} == {"there is no machine"}
    (found,) = lab.check("ovirt", expect=4, environment={**environment, "OVIRT_PASSWORD": "wrong and secret"})
    assert "the engine cannot be asked" in found["message"] and "wrong and secret" not in json.dumps(found)


def test_credentials_from_a_vault(lab_and_engine):
    lab, engine = lab_and_engine
    vault, password = lab.directory / "vault.yml", lab.directory / "password"
    password.write_text("open sesame")
    secrets = {"url": engine.api_url, "username": engine.user, "password": engine.password, "cafile": engine.ca_file}
    vault.write_text("".join(f"engine_{name}: {json.dumps(value)}\n" for name, value in secrets.items()))
    command = ["ansible-vault", "encrypt", "--vault-password-file", password, vault]
    subprocess.run(command, env=lab.environment(), check=True, capture_output=True)
    assert engine.password not in vault.read_text()
    flags = ["-e", f"@{vault}", "--vault-password-file", str(password)]
    assert lab.play(engine, "image.yml", environment=NO_FILE, flags=flags).changed() == []


def test_the_engine_is_verified(lab_and_engine):
    """Without the engine's CA there is no connection, unless the user says so."""
    lab, engine = lab_and_engine
    text = lab.credentials.read_text()
    try:
        lab.credentials.write_text("".join(l for l in text.splitlines(keepends=True) if re.match(r"ovirt_(url|username|password)", l)))
        lab.play(engine, "image.yml", fails=True)
        assert lab.play(engine, "image.yml", engine_insecure=True).changed() == []
    finally:
        lab.credentials.write_text(text)


def test_hardware_addresses_of_the_users_choice(lab_and_engine):
    lab, engine = lab_and_engine
    inventory = lab.kit / "inventory.yml"
    mac = "56:6f:77:00:00:01"
    inventory.write_text(re.sub(r"(role: master.*)}", rf'\1, mac: "{mac}"}}', inventory.read_text()))
    # The reservation is known before the machine is.
    lab.landfall("upi", "create")
    assert mac in (lab.kit / "dhcp" / "kea-dhcp4.json").read_text()
    lab.play(engine, "vms.yml")
    assert mac in (lab.kit / "machines.json").read_text()
    assert lab.play(engine, "vms.yml").changed() == []
    lab.landfall("upi", "create")
    assert [f["verdict"] for f in lab.check("dhcp") + lab.check("ovirt")] == ["ok", "ok"]


def test_an_edited_file_is_kept_until_something_before_it_changes(lab_and_engine):
    lab, _ = lab_and_engine
    haproxy, inventory = lab.kit / "load-balancer" / "haproxy.cfg", lab.kit / "inventory.yml"
    haproxy.write_text(haproxy.read_text() + "# mine\n")
    lab.landfall("upi", "create")
    assert "# mine" in haproxy.read_text()
    inventory.write_text(inventory.read_text().replace(f"{lab.prefix}.17", f"{lab.prefix}.27"))
    asked = lab.landfall("upi", "create", expect=3)
    assert "haproxy.cfg is out of date, and you edited it" in asked.stderr and "# mine" in haproxy.read_text()
    lab.landfall("upi", "create", "--regenerate=upi/load-balancer/haproxy.cfg")
    assert f"{lab.prefix}.27:6443" in haproxy.read_text()
    assert f"{lab.prefix}.27" in (lab.kit / "dhcp" / "dnsmasq.conf").read_text()
