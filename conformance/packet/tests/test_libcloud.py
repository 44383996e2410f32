"""apache-libcloud: everything in the query, and paths of its own."""

import pytest
from libcloud.compute.drivers.equinixmetal import EquinixMetalNodeDriver
from simulator import wait_for


@pytest.fixture
def driver(metal, monkeypatch):
    import libcloud.security

    monkeypatch.setattr(libcloud.security, "CA_CERTS_PATH", metal.ca_file)
    base = metal.url.removesuffix("/metal/v1")

    class Pointed(EquinixMetalNodeDriver):
        def _ex_connection_class_kwargs(self):
            return {"url": base}

    return Pointed(metal.ready["api_key"])


def test_a_node(driver, project):
    size = next(size for size in driver.list_sizes() if size.id == "c3.small.x86")
    image = next(image for image in driver.list_images() if image.id == "ubuntu_22_04")
    location = next(location for location in driver.list_locations() if location.name == "Dallas")
    node = driver.create_node("cloudy", size, image, location, ex_project_id=project)
    states = lambda: [one.state for one in driver.list_nodes(ex_project_id=project) if one.id == node.id]
    wait_for("a node that runs", states, lambda states: states == ["running"], every=0.1)
    # It takes only 200 for success, and the service answers 204.
    driver.destroy_node(node)
    wait_for("its end", states, lambda states: states == [], every=0.1)
