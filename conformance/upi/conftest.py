"""Fixtures: labs, each with an engine of its own."""

import pytest

from lab import Lab
from simulator import Simulator


@pytest.fixture(scope="module")
def labs(tmp_path_factory):
    """Makes labs; what still runs at the end is stopped, and engines must stop in good order."""
    made = []

    def make(name, **options):
        directory = tmp_path_factory.mktemp(name)
        lab = Lab(directory, **options)
        engine = Simulator(directory / "engine", *lab.simulator_options())
        made.append((lab, engine))
        return lab, engine

    yield make
    for lab, engine in made:
        lab.close()
        if engine.process.poll() is None:
            engine.stop()
