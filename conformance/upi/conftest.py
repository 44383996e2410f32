"""Fixtures: labs, each with an engine of its own."""

import pytest

from lab import Lab
from simulator import Simulator

pytest_plugins = ["judged"]

# Whole files go to one worker each, and the longest stories are begun first: begun last, one of them would be waited for alone.
LONGEST = ["test_walk.py", "test_fields.py", "test_image.py", "test_demo.py", "test_checks.py", "test_static.py", "test_options.py"]


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


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
