"""Fixtures: a running simulator, and IBM's library connected to its hosts."""

import functools
import uuid

import pytest
from pypowervm import adapter as adp
from pypowervm.tasks import partition as tsk_par
from pypowervm.utils import lpar_builder
from pypowervm.wrappers import logical_partition as pvm_lpar
from pypowervm.wrappers import managed_system as pvm_ms

from simulator import started

pytest_plugins = ["judged"]

# Simulated seconds per real second: a read of events that finds nothing takes a fifth of a second.
TIME_SCALE = "50"

SESSIONS = []


@pytest.fixture(scope="session")
def simulators(tmp_path_factory):
    with started(tmp_path_factory.mktemp) as start:
        yield functools.partial(start_fast, start)
        # The library logs off when a session is collected, which is after its simulator is gone, and complains at length.
        for session in SESSIONS:
            session._logoff()


def start_fast(start, name, *options, directory=None):
    return start(name, "--http", "--time-scale", TIME_SCALE, "--media", "keep", *options, directory=directory)


@pytest.fixture(scope="session")
def hosts(simulators):
    """The simulator that most tests share."""
    return simulators("hosts")


def connect(simulator, host=0, **overrides):
    """A session of the library with a host."""
    url = simulator.ready["hosts"][host]["url"]
    arguments = {
        "host": "127.0.0.1",
        "username": simulator.user,
        "password": simulator.password,
        "protocol": url.split(":")[0],
        "port": int(url.rsplit(":", 1)[1]),
        "certpath": None,
        # Twenty minutes by default, in which a server that does not answer would keep all other tests.
        "timeout": 300,
        **overrides,
    }
    session = adp.Session(**arguments)
    SESSIONS.append(session)
    return adp.Adapter(session, helpers=[])


@pytest.fixture(scope="session")
def adapter(hosts):
    return connect(hosts)


@pytest.fixture(scope="session")
def other_adapter(hosts):
    """The second host."""
    return connect(hosts, 1)


@pytest.fixture(scope="session")
def system(adapter):
    return pvm_ms.System.get(adapter)[0]


@pytest.fixture(scope="session")
def vioses(adapter):
    return tsk_par.get_active_vioses(adapter)


@pytest.fixture
def make_lpar(adapter, system):
    """Makes logical partitions, which are removed at the end if the test has not done so."""
    made = []

    def make(name=None, on=adapter, host=system, **attributes):
        name = name or f"lpar-{uuid.uuid4().hex[:8]}"
        attributes = {"name": name, "memory": 2048, "vcpu": 1, "env": "AIX/Linux", **attributes}
        lpar = lpar_builder.LPARBuilder(on, attributes, lpar_builder.DefaultStandardize(host)).build().create(parent=host)
        made.append((on, lpar))
        return lpar

    yield make
    from pypowervm import exceptions as exc
    from pypowervm.tasks import power

    for on, lpar in made:
        try:
            lpar = pvm_lpar.LPAR.get(on, uuid=lpar.uuid)
        except exc.HttpNotFound:
            continue
        power.PowerOp.stop(lpar, opts=_hard_off())
        pvm_lpar.LPAR.get(on, uuid=lpar.uuid).delete()


def _hard_off():
    from pypowervm.tasks import power_opts

    return power_opts.PowerOffOpts().vsp_hard()


@pytest.fixture
def hard_off():
    return _hard_off()
