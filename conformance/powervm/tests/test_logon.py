"""Sessions: password, file, renewal, refusal, logging off."""

import os
import stat

import pytest
from pypowervm import adapter as adp
from pypowervm import exceptions as exc
from pypowervm.wrappers import managed_system as pvm_ms

from conftest import connect


def test_a_password_lets_in_and_the_dialect_is_novalink(adapter):
    assert adapter.session.mc_type == "PVM"
    assert adapter.session.schema_version
    assert not adapter.traits.local_api
    assert adapter.traits._is_hmc is False


def test_a_token_in_a_file_lets_a_local_user_in(hosts):
    local = connect(hosts, username=None, password=None)
    assert local.session.use_file_auth
    assert local.traits.local_api
    assert len(pvm_ms.System.get(local)) == 1


def test_a_wrong_password_is_refused(hosts):
    with pytest.raises(exc.HttpUnauth):
        connect(hosts, password="wrong")


def test_a_session_that_was_forgotten_is_renewed(hosts):
    adapter = connect(hosts)
    before = adapter.session._sessToken
    hosts.add_fault("GET /rest/api/uom/ManagedSystem* nth=1 token-expired")
    try:
        assert pvm_ms.System.get(adapter)
    finally:
        hosts.clear_faults()
    assert adapter.session._sessToken != before


def test_a_session_ends(hosts):
    adapter = connect(hosts)
    adapter.session._logoff()
    # The server has forgotten the token, and the library does not ask for another one.
    with pytest.raises(exc.HttpUnauth):
        adapter.read("ManagedSystem")


def test_a_token_is_good_for_its_own_host_only(hosts):
    adapter, other = connect(hosts, 0), connect(hosts, 1)
    other.session._sessToken = adapter.session._sessToken
    # It is refused, and replaced by a new one.
    assert pvm_ms.System.get(other)[0].system_name == "power-b"
    assert other.session._sessToken != adapter.session._sessToken
