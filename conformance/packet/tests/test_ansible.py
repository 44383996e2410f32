"""The Packet modules of community.general: each play twice, and the second run changes nothing."""

import json
import os
import subprocess

import pytest

COLLECTIONS = os.path.join(os.environ["LANDFALL_CLIENTS"], "collections")


@pytest.fixture
def ansible(metal, tmp_path):
    def run(module, **arguments):
        environment = {
            **metal.environment,
            "ANSIBLE_COLLECTIONS_PATH": COLLECTIONS,
            "ANSIBLE_HOME": str(tmp_path / "ansible"),
            "ANSIBLE_LOCALHOST_WARNING": "0",
            "ANSIBLE_PYTHON_INTERPRETER": os.path.join(os.environ["LANDFALL_CLIENTS"], "bin", "python"),
        }
        command = ["ansible", "localhost", "-c", "local", "-m", f"community.general.{module}", "-a", json.dumps(arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout.split("=>", 1)[1])

    return run


def test_a_device(ansible, project):
    wanted = {
        "project_id": project,
        "hostnames": "playbook",
        "operating_system": "ubuntu_20_04",
        "plan": "c1.small.x86",
        "facility": "sjc1",
    }
    made = ansible("packet_device", state="active", wait_timeout=480, **wanted)
    assert made["changed"]
    again = ansible("packet_device", state="active", wait_timeout=480, **wanted)
    assert not again["changed"]
    ids = [device["id"] for device in made["devices"]]
    assert ansible("packet_device", state="absent", project_id=project, device_ids=ids)["changed"]


def test_a_key(ansible, python_client):
    """Only its removal: on Python 3 the module never finds that a key is missing, and so makes none."""
    python_client().create_ssh_key("playbook", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPlaybook p")
    assert ansible("packet_sshkey", state="absent", label="playbook")["changed"]
    assert not ansible("packet_sshkey", state="absent", label="playbook")["changed"]


def test_a_project(ansible):
    assert ansible("packet_project", state="present", name="playbook")["changed"]
    assert not ansible("packet_project", state="present", name="playbook")["changed"]
    assert ansible("packet_project", state="absent", name="playbook")["changed"]
