"""A running simulator, and Cloudflare's own client for it."""

import json
import os
import subprocess

import cloudflare
import pytest


@pytest.fixture
def simulator():
    """Starts simulators; they are stopped at the end, and must stop in good order."""
    running = []

    def start(*flags):
        command = [os.environ["LANDFALL_BIN"], "sim", "cloudflare", "--http", *flags]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        running.append(process)
        return json.loads(process.stdout.readline())

    yield start
    for process in running:
        process.terminate()
        assert process.wait(timeout=20) == 0


@pytest.fixture
def account(simulator):
    """A client that may edit, and the id of the zone example.com."""
    ready = simulator()
    client = cloudflare.Cloudflare(api_token=ready["token"], base_url=ready["url"], max_retries=0)
    return client, next(iter(client.zones.list(name="example.com"))).id
