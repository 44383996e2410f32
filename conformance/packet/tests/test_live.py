"""packet-python's own tests, which its authors ran against the service."""

import os
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(os.environ["LANDFALL_CLIENTS"]) / "source" / "test"

# Not here: volumes (gone from the service in 2021), VPN and e-mail of the user, which are no part of installing anything.
MODULES = ["test_batch", "test_device", "test_event", "test_ips", "test_organization", "test_ports", "test_vlan"]


@pytest.fixture(scope="module")
def slow(simulators):
    """A clock on which a device is not active ten seconds after it was asked for, as one of the tests takes for granted."""
    return simulators("slow", "--time-scale", "20")


@pytest.mark.parametrize("module", MODULES)
def test_its_own_tests(metal, slow, module):
    simulator = slow if module == "test_batch" else metal
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", f"{module}.py"]
    environment = {**simulator.environment, "PACKET_PYTHON_TEST_ACTUAL_API": "1"}
    done = subprocess.run(command, cwd=TESTS, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout and "skipped" not in done.stdout.splitlines()[-1], done.stdout
