"""Consoles: the local commands open a VNC server, and a partition with an open console is not deleted."""

import socket

import pytest
from pypowervm import exceptions as exc
from pypowervm.tasks import vterm
from pypowervm.utils import lpar_builder
from pypowervm.wrappers import logical_partition as pvm_lpar
from pypowervm.wrappers import managed_system as pvm_ms

from conftest import connect


@pytest.fixture
def local(simulators, tmp_path, monkeypatch):
    """A session on the management partition: local logon, and its commands on the path."""
    simulator = simulators("console", "--tools-dir", str(tmp_path / "bin"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    return connect(simulator, username=None, password=None)


def test_a_console_is_opened_used_and_closed(local):
    system = pvm_ms.System.get(local)[0]
    standard = lpar_builder.DefaultStandardize(system)
    lpar = lpar_builder.LPARBuilder(local, {"name": "seen", "memory": 2048, "vcpu": 1}, standard).build().create(parent=system)
    port = vterm.open_localhost_vnc_vterm(local, lpar.uuid)
    with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
        assert client.recv(12) == b"RFB 003.008\n"
    # It is open already, and the port is the same.
    assert vterm.open_localhost_vnc_vterm(local, lpar.uuid) == port
    with pytest.raises(exc.HttpError) as caught:
        lpar.delete()
    assert "console" in str(caught.value)
    vterm.close_vterm(local, lpar.uuid)
    lpar.delete()
