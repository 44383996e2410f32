"""A running simulator, and Cloudflare's own client for it."""

import cloudflare
import pytest
from simulator import started

pytest_plugins = ["judged"]


@pytest.fixture
def simulator(tmp_path_factory):
    """Starts simulators; they are stopped at the end, and must stop in good order."""

    def start(*flags):
        # Its clock is that of the clients, and it has no machines.
        return start_one("cloudflare", "--http", "--time-scale", "1", *flags, guests=None).ready

    with started(tmp_path_factory.mktemp) as start_one:
        yield start


@pytest.fixture
def account(simulator):
    """A client that may edit, and the id of the zone example.com."""
    ready = simulator()
    client = cloudflare.Cloudflare(api_token=ready["token"], base_url=ready["url"], max_retries=0)
    return client, next(iter(client.zones.list(name="example.com"))).id
