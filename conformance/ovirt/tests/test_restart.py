"""Restart with --state in the middle of operations: they complete as an engine's would."""

import ovirtsdk4 as sdk
import pytest
from conftest import GIB, World
from ovirt_imageio import client
from ovirtsdk4 import types

from simulator import wait_for
from transfers import Phase, Transfer, download


@pytest.fixture(params=["stopped", "killed"])
def restart(request, simulators, connect, tmp_path):
    """Starts a simulator with a state file, and again after it ended in one of two ways."""
    state = tmp_path / "state.json"

    def start():
        engine = simulators("restart", "--state", state, directory=tmp_path)
        return engine, World(connect(engine).system_service())

    def again(engine):
        if request.param == "killed":
            engine.kill()
        else:
            engine.stop()
        return start()

    return start, again


def test_everything_goes_on_where_it_was(restart):
    start, again = restart
    engine, world = start()
    template = world.add_template(name="before")
    running = world.add_vm("running", template=template.name)
    world.vm_service(running).start()
    running = world.wait_vm(running, types.VmStatus.UP)
    # Three things are under way when the engine ends: a VM being made, a VM starting, a disk being made.
    starting = world.add_vm("starting", template=template.name)
    world.vm_service(starting).start()
    making = world.system.vms_service().add(
        types.Vm(
            name="making",
            cluster=types.Cluster(id=world.cluster.id),
            template=types.Template(id=template.id),
            initialization=types.Initialization(custom_script="{}"),
        ),
        query={"correlation_id": "made-before"},
    )
    disk = world.system.disks_service().add(
        types.Disk(
            name="half",
            format=types.DiskFormat.COW,
            sparse=True,
            provisioned_size=GIB,
            storage_domains=[types.StorageDomain(id=world.storage_domain.id)],
        )
    )
    assert making.status == types.VmStatus.IMAGE_LOCKED
    assert disk.status == types.DiskStatus.LOCKED
    used = world.system.storage_domains_service().storage_domain_service(world.storage_domain.id).get().used

    engine, world = again(engine)
    assert world.wait_vm(making, types.VmStatus.DOWN).initialization.custom_script == "{}"
    assert world.wait_disk(disk).alias == "half"
    started = world.wait_vm(starting, types.VmStatus.UP)
    assert started.host
    still = world.vm_service(running).get()
    assert (still.status, still.host.id) == (types.VmStatus.UP, running.host.id)
    assert world.vm_service(running).nics_service().list()[0].mac.address
    jobs = world.system.jobs_service()
    done = wait_for(
        "the job",
        lambda: jobs.list(search="correlation_id=made-before"),
        lambda found: found and found[0].status == types.JobStatus.FINISHED,
    )
    assert done
    now = world.system.storage_domains_service().storage_domain_service(world.storage_domain.id).get().used
    assert now == used
    engine.stop()


def test_the_certificate_authority_stays(restart):
    start, again = restart
    engine, _ = start()
    before = open(engine.ca_file, "rb").read()
    engine, _ = again(engine)
    assert open(engine.ca_file, "rb").read() == before
    engine.stop()


def test_an_upload_can_go_on_after_a_restart(restart, images):
    start, again = restart
    engine, world = start()
    disk = world.add_disk(size=images.size, format=types.DiskFormat.RAW)
    content = images.raw.read_bytes()
    half = images.size // 2
    up = Transfer(world.system, disk)
    with client.ImageioClient(up.url, cafile=engine.ca_file) as remote:
        remote.write(0, content[:half])
        remote.flush()

    engine, world = again(engine)
    service = world.system.image_transfers_service().image_transfer_service(up.entity.id)
    entity = wait_for(
        "the transfer",
        service.get,
        lambda transfer: transfer.phase in (Phase.TRANSFERRING, Phase.PAUSED_SYSTEM),
    )
    if entity.phase == Phase.PAUSED_SYSTEM:
        service.resume()
        entity = wait_for("the resumption", service.get, lambda transfer: transfer.phase == Phase.TRANSFERRING)
    with client.ImageioClient(entity.transfer_url, cafile=engine.ca_file) as remote:
        remote.write(half, content[half:])
        remote.flush()
    service.finalize()
    wait_for("the end", service.get, lambda transfer: transfer.phase == Phase.FINISHED_SUCCESS)
    with download(world.system, disk) as down:
        with client.ImageioClient(down.url, cafile=engine.ca_file) as remote:
            back = bytearray(images.size)
            remote.read(0, back)
    assert bytes(back) == content
    engine.stop()


def test_a_removal_under_way_is_completed(restart):
    start, again = restart
    engine, world = start()
    vm = world.add_vm("leaving")
    disk = world.add_disk("leaving too")
    world.attach_disk(vm, disk)
    world.vm_service(vm).remove()
    engine, world = again(engine)
    world.wait_gone("the VM", world.vm_service(vm))
    world.wait_gone("its disk", world.disk_service(disk))
    with pytest.raises(sdk.NotFoundError):
        world.disk_service(disk).get()
    engine.stop()
