"""Fixtures: a running simulator, and clients of it."""

import os
import pathlib
from urllib.parse import urlsplit

import equinix_metal
import packet
import pytest
from simulator import started

pytest_plugins = ["judged"]

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="session")
def simulators(tmp_path_factory):
    def start(name, *options, **settings):
        # A clock that is fast enough for clients that look every other second.
        speed = () if "--time-scale" in options else ("--time-scale", "200")
        simulator = start_one(name, *speed, *options, **settings)
        simulator.environment = {
            **os.environ,
            "PACKET_SIMULATOR": urlsplit(simulator.url).netloc,
            "PACKET_AUTH_TOKEN": simulator.ready["api_key"],
            "PACKET_API_TOKEN": simulator.ready["api_key"],
            "REQUESTS_CA_BUNDLE": simulator.ca_file,
            "PYTHONPATH": str(HERE / "shim"),
        }
        return simulator

    with started(tmp_path_factory.mktemp) as start_one:
        yield start


@pytest.fixture(scope="session")
def metal(simulators):
    """The simulator that most tests share."""
    return simulators(
        "metal",
        "--capacity", "sv/c3.medium.x86=2",
        "--hardware-reservation", "c3.small.x86@da",
        "--read-only-key", "only-reads",
        "--project-key", "one-project",
    )


@pytest.fixture(scope="session")
def project(metal):
    return metal.ready["project"]


@pytest.fixture
def python_client(metal, monkeypatch):
    """packet-python: the first era, base path `/`."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", metal.ca_file)

    def connect(key=None):
        manager = packet.Manager(auth_token=key or metal.ready["api_key"])
        manager.end_point = urlsplit(metal.url).netloc
        return manager

    return connect


@pytest.fixture(scope="session")
def generated(metal):
    """equinix-metal: the later era, base path `/metal/v1`, every answer checked against the published schema."""
    configuration = equinix_metal.Configuration(host=metal.url, ssl_ca_cert=metal.ca_file)
    configuration.api_key["x_auth_token"] = metal.ready["api_key"]
    return equinix_metal.ApiClient(configuration)
