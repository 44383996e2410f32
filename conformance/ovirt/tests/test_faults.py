"""Faults: every kind that the simulator can inject, seen as the SDK's own exception, and what is left after it."""

import re
import time

import ovirtsdk4 as sdk
import pycurl
import pytest
from conftest import World
from ovirtsdk4 import types

from simulator import wait_for


@pytest.fixture(scope="module")
def faulty(simulators):
    """A simulator of its own: faults that outlive a test must not spoil the others."""
    return simulators("faulty")


@pytest.fixture(scope="module")
def module_world(connect, faulty):
    return World(connect(faulty).system_service())


@pytest.fixture
def fault(faulty, module_world):
    yield faulty.add_fault
    faulty.clear_faults()


VMS = "/ovirt-engine/api/vms"
CLUSTERS = "/ovirt-engine/api/clusters"


@pytest.fixture
def fresh(connect, faulty):
    """A connection that has a token and has made no call yet.

    libcurl repeats a call on its own, once, if a connection that it used before breaks without an answer. So whoever wants
    to see a break has to be the first to use the connection.
    """
    connection = connect(faulty)
    connection.authenticate()
    return connection.system_service()


# What libcurl calls it when a connection ends without an answer, depending on where it notices.
BROKEN = (pycurl.E_GOT_NOTHING, pycurl.E_RECV_ERROR, pycurl.E_SEND_ERROR)


def curl_code(error):
    """The code of libcurl in an error of the SDK that stands for a broken connection."""
    return int(re.search(r"\(<[^>]*>, (\d+), ", str(error.value)).group(1))


@pytest.fixture
def clusters(module_world):
    return module_world.system.clusters_service()


@pytest.mark.parametrize("code", [500, 502, 503])
def test_a_server_error_with_a_web_page(fault, clusters, code):
    fault(f"GET {CLUSTERS} first=1 status={code}")
    with pytest.raises(sdk.Error) as seen:
        clusters.list()
    # The SDK cannot read a web page, and says so with the type it got.
    assert "text/html" in str(seen.value)
    assert clusters.list()


def test_a_server_error_in_the_engines_own_words(fault, clusters):
    fault(f"GET {CLUSTERS} first=1 status=500 body=platform")
    with pytest.raises(sdk.Error) as seen:
        clusters.list()
    assert seen.value.code == 500
    assert seen.value.fault.reason
    assert clusters.list()


def test_throttling(fault, clusters):
    fault(f"GET {CLUSTERS} first=1 throttle=7s body=platform")
    with pytest.raises(sdk.Error) as seen:
        clusters.list()
    assert seen.value.code == 429
    assert clusters.list()


def test_a_throttled_answer_says_when_to_come_back(fault, faulty, connect):
    import base64
    import ssl
    import urllib.error
    import urllib.request

    fault(f"GET {CLUSTERS} first=1 throttle=7s")
    credentials = base64.b64encode(f"{faulty.user}:{faulty.password}".encode()).decode()
    request = urllib.request.Request(f"{faulty.api_url}/clusters", headers={"Authorization": f"Basic {credentials}"})
    with pytest.raises(urllib.error.HTTPError) as seen:
        urllib.request.urlopen(request, context=ssl.create_default_context(cafile=faulty.ca_file))
    assert (seen.value.code, seen.value.headers["Retry-After"]) == (429, "7")


def test_a_web_page_instead_of_the_api(fault, clusters):
    fault(f"GET {CLUSTERS} first=1 html-page")
    with pytest.raises(sdk.Error) as seen:
        clusters.list()
    assert "text/html" in str(seen.value)


def blank_vm(world, name):
    return types.Vm(name=name, cluster=types.Cluster(id=world.cluster.id), template=types.Template(name="Blank"))


def test_a_reset_before_anything_happened(fault, fresh, module_world):
    name = module_world.name("reset")
    fault(f"POST {VMS} first=1 reset")
    with pytest.raises(sdk.Error) as seen:
        fresh.vms_service().add(blank_vm(module_world, name))
    assert curl_code(seen) in BROKEN
    assert "reset" in str(seen.value)
    assert module_world.system.vms_service().list(search=f"name={name}") == []
    module_world.add_vm(name)


def test_a_lost_reply_after_it_happened(fault, fresh, module_world):
    name = module_world.name("lost")
    fault(f"POST {VMS} first=1 lost-reply")
    with pytest.raises(sdk.Error) as seen:
        fresh.vms_service().add(blank_vm(module_world, name))
    assert curl_code(seen) in BROKEN
    found = module_world.system.vms_service().list(search=f"name={name}")
    assert [vm.name for vm in found] == [name]
    with pytest.raises(sdk.Error) as again:
        module_world.add_vm(name)
    assert again.value.code == 409


def test_a_lost_reply_on_a_used_connection_is_repeated_by_the_client(fault, module_world):
    """What makes a lost reply dangerous: the call comes twice, and the second one must not make a second VM."""
    name = module_world.name("twice")
    module_world.system.clusters_service().list()
    fault(f"POST {VMS} first=1 lost-reply")
    with pytest.raises(sdk.Error) as seen:
        module_world.system.vms_service().add(blank_vm(module_world, name))
    assert seen.value.code == 409
    assert len(module_world.system.vms_service().list(search=f"name={name}")) == 1


def test_a_truncated_answer(fault, fresh, clusters):
    fault(f"GET {CLUSTERS} first=1 truncate=20")
    with pytest.raises(sdk.Error) as seen:
        fresh.clusters_service().list()
    assert "Failed to read response" in str(seen.value)
    assert clusters.list()


def test_latency(fault, clusters):
    fault(f"GET {CLUSTERS} first=1 latency=40s")
    begin = time.monotonic()
    assert clusters.list()
    slow = time.monotonic() - begin
    # 40 simulated seconds are two real ones at the scale that the tests run at.
    assert slow >= 1.9


def test_latency_beyond_the_clients_patience(fault, connect, faulty):
    # Enough for a logon on a machine under load, and less than the ten real seconds of the answer.
    hasty = connect(faulty, timeout=3)
    hasty.authenticate()
    fault(f"GET {CLUSTERS} first=1 latency=200s")
    with pytest.raises(sdk.Error) as seen:
        hasty.system_service().clusters_service().list()
    assert curl_code(seen) == pycurl.E_OPERATION_TIMEDOUT


def test_an_expired_token_is_replaced_silently_when_the_password_is_known(fault, faulty, connect):
    connection = connect(faulty)
    before = connection.authenticate()
    fault(f"GET {CLUSTERS} first=1 token-expired")
    assert connection.system_service().clusters_service().list()
    assert connection.authenticate() != before


def test_an_expired_token_alone_is_an_error(fault, faulty, connect):
    token = connect(faulty).authenticate()
    lonely = connect(faulty, username=None, password=None, token=token)
    fault(f"GET {CLUSTERS} token-expired")
    with pytest.raises(sdk.Error):
        lonely.system_service().clusters_service().list()


def test_a_failing_sso(fault, faulty, connect):
    fault("POST /ovirt-engine/sso/oauth/token first=1 status=503")
    with pytest.raises(sdk.Error):
        connect(faulty).system_service().clusters_service().list()


def test_no_capacity(fault, module_world):
    vm = module_world.add_vm()
    module_world.attach_disk(vm, module_world.add_disk())
    fault(f"POST {VMS}/*/start first=1 no-capacity")
    with pytest.raises(sdk.Error) as seen:
        module_world.vm_service(vm).start()
    assert seen.value.code == 409
    assert seen.value.fault.detail
    assert module_world.vm_service(vm).get().status == types.VmStatus.DOWN
    module_world.vm_service(vm).start()
    module_world.wait_vm(vm, types.VmStatus.UP)


def test_no_space_for_a_disk(fault, module_world):
    fault("POST /ovirt-engine/api/disks first=1 no-capacity")
    with pytest.raises(sdk.Error) as seen:
        module_world.add_disk()
    assert seen.value.code == 409
    assert "disk space" in seen.value.fault.detail.lower()


def test_a_stuck_lock_holds_until_it_is_released(fault, faulty, module_world):
    fault("POST /ovirt-engine/api/disks first=1 stuck-lock")
    disks = module_world.system.disks_service()
    disk = disks.add(
        types.Disk(
            name=module_world.name("stuck"),
            format=types.DiskFormat.COW,
            sparse=True,
            provisioned_size=1 << 30,
            storage_domains=[types.StorageDomain(id=module_world.storage_domain.id)],
        )
    )
    # Far longer than any disk takes; stepping the clock makes it certain without waiting.
    faulty.admin("POST", "/clock/step", {"by": "1h"})
    service = disks.disk_service(disk.id)
    assert service.get().status == types.DiskStatus.LOCKED
    with pytest.raises(sdk.Error) as refused:
        service.remove()
    assert refused.value.code == 409
    faulty.admin("POST", f"/ovirt/locks/{disk.id}/release")
    wait_for("the release", service.get, lambda seen: seen.status == types.DiskStatus.OK)
    service.remove()


def test_slow_state_changes(fault, faulty, module_world):
    fault("POST /ovirt-engine/api/disks first=1 slow-state=1000")
    disks = module_world.system.disks_service()
    disk = disks.add(
        types.Disk(
            name=module_world.name("slow"),
            format=types.DiskFormat.COW,
            sparse=True,
            provisioned_size=1 << 30,
            storage_domains=[types.StorageDomain(id=module_world.storage_domain.id)],
        )
    )
    faulty.admin("POST", "/clock/step", {"by": "10m"})
    service = disks.disk_service(disk.id)
    assert service.get().status == types.DiskStatus.LOCKED
    faulty.admin("POST", "/clock/step", {"by": "6h"})
    wait_for("the end", service.get, lambda seen: seen.status == types.DiskStatus.OK)


def test_the_nth_call_and_only_that(fault, clusters):
    fault(f"GET {CLUSTERS} nth=3 status=500 body=platform")
    codes = []
    for _ in range(5):
        try:
            clusters.list()
            codes.append(200)
        except sdk.Error as error:
            codes.append(error.code)
    assert codes == [200, 200, 500, 200, 200]


def test_a_probability(fault, clusters):
    fault(f"GET {CLUSTERS} probability=0.5 status=500 body=platform")
    failed = 0
    for _ in range(60):
        try:
            clusters.list()
        except sdk.Error:
            failed += 1
    assert 10 <= failed <= 50


def test_faults_can_be_given_on_the_command_line(simulators, connect):
    engine = simulators("born-faulty", "--fault", f"GET {CLUSTERS} first=1 status=503 body=platform")
    clusters = connect(engine).system_service().clusters_service()
    with pytest.raises(sdk.Error) as seen:
        clusters.list()
    assert seen.value.code == 503
    assert clusters.list()
    engine.stop()


def test_faults_reach_the_image_endpoint_too(fault, module_world, faulty):
    from ovirt_imageio import client

    from transfers import Transfer

    disk = module_world.add_disk(size=1 << 20, format=types.DiskFormat.RAW)
    up = Transfer(module_world.system, disk)
    fault("PUT /images/* first=1 status=503")
    with client.ImageioClient(up.url, cafile=faulty.ca_file) as remote:
        with pytest.raises(Exception) as seen:
            remote.write(0, b"x" * 4096)
        assert getattr(seen.value, "code", None) == 503
    with client.ImageioClient(up.url, cafile=faulty.ca_file) as remote:
        remote.write(0, b"x" * 4096)
    up.finalize()
