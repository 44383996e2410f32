"""Images in and out: the imageio client, ovirt-img, and plain HTTP as installers in other languages use it."""

import json
import ssl
import subprocess
import urllib.error
import urllib.request

import ovirtsdk4 as sdk
import pytest
from conftest import GIB, MIB
from ovirt_imageio import client
from ovirtsdk4 import types

from simulator import wait_for
from transfers import Phase, Transfer, download, transfer

UPLOAD = types.ImageTransferDirection.UPLOAD
RAW, COW = types.DiskFormat.RAW, types.DiskFormat.COW


@pytest.fixture
def http(engine):
    """Plain HTTP requests to the data endpoint: (status, headers, body)."""
    context = ssl.create_default_context(cafile=engine.ca_file)

    def send(method, url, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(url, data=body, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, context=context, timeout=120) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    return send


def disk_for(world, images, disk_format):
    return world.add_disk(size=images.size, format=disk_format, sparse=True, initial_size=images.size)


def guest_checksum(system, disk, http):
    """What the server computes over the data that the guest sees."""
    with download(system, disk) as down:
        status, _, body = http("GET", f"{down.url}/checksum")
    assert status == 200
    return json.loads(body)


@pytest.mark.parametrize("disk_format", [RAW, COW], ids=str)
@pytest.mark.parametrize("source", ["raw", "qcow2", "compressed"])
def test_the_client_uploads_and_downloads_the_same_image(
    system, world, images, engine, http, tmp_path, source, disk_format
):
    path = str(images.all[source])
    disk = disk_for(world, images, disk_format)
    with transfer(system, disk) as up:
        client.upload(path, up.url, engine.ca_file)
        sent = up.service.get()
        # Zeroes count too.
        assert sent.transferred == images.size
        assert world.disk_service(disk).get().status == types.DiskStatus.LOCKED
    after = world.wait_disk(disk)
    assert 0 < after.actual_size < images.size

    expected = client.checksum(path)
    assert guest_checksum(system, disk, http) == expected
    assert expected == client.checksum(str(images.raw)), "all forms hold the same guest data"
    for fmt in ("raw", "qcow2"):
        back = str(tmp_path / f"back.{fmt}")
        with download(system, disk) as down:
            client.download(down.url, back, engine.ca_file, fmt=fmt)
        assert client.checksum(back) == expected
        assert client.info(back)["format"] == fmt
    world.disk_service(disk).remove()


def test_the_proxy_is_as_good_as_the_host(system, world, images, engine):
    disk = disk_for(world, images, RAW)
    with transfer(system, disk) as up:
        assert up.proxy_url and up.proxy_url != up.url
        assert up.proxy_url.rsplit("/", 1)[1] == up.url.rsplit("/", 1)[1], "one ticket"
        # The host cannot be reached, as from outside its network.
        client.upload(str(images.raw), "https://127.0.0.1:1/images/x", engine.ca_file, proxy_url=up.proxy_url)
    with download(system, disk) as down:
        with client.ImageioClient(down.proxy_url, cafile=engine.ca_file) as remote:
            assert remote.size() == images.size
            start = bytearray(4096)
            remote.read(0, start)
    with open(images.raw, "rb") as file:
        assert file.read(4096) == bytes(start)
    world.disk_service(disk).remove()


def test_ovirt_img_uploads_and_downloads(system, engine, images, tmp_path, world):
    password = tmp_path / "password"
    password.write_text(engine.password)
    common = [
        "--engine-url", engine.api_url[: -len("/ovirt-engine/api")],
        "--username", engine.user,
        "--password-file", str(password),
        "--cafile", engine.ca_file,
        "--output", "json",
    ]  # fmt: skip
    upload = ["ovirt-img", "upload-disk", *common, "-s", world.storage_domain.name]
    subprocess.run([*upload, "-f", "qcow2", "--name", "ovirt-img", images.qcow2], check=True, timeout=300)
    disks = system.disks_service().list(search="name=ovirt-img")
    assert [(d.format, d.provisioned_size, d.status) for d in disks] == [(COW, images.size, types.DiskStatus.OK)]
    back = tmp_path / "back.qcow2"
    subprocess.run(["ovirt-img", "download-disk", *common, disks[0].id, back], check=True, timeout=300)
    assert client.checksum(str(back)) == client.checksum(str(images.qcow2))
    world.disk_service(disks[0]).remove()


@pytest.mark.parametrize("source", ["qcow2", "compressed"])
def test_a_whole_qcow2_file_is_kept_as_it_is(system, world, images, engine, http, tmp_path, source):
    """One PUT of the image file with format cow, which is how the Go clients upload."""
    content = images.all[source].read_bytes()
    disk = disk_for(world, images, COW)
    with transfer(system, disk, format=COW) as up:
        status, headers, body = http("OPTIONS", up.url)
        assert status == 200
        assert {"PUT", "GET"} <= set(headers["allow"].split(","))
        assert "unix_socket" not in json.loads(body)
        assert http("PUT", up.url, content)[0] == 200
    with download(system, disk, format=COW) as down:
        assert http("GET", down.url)[2] == content
    # The other face of the same disk: what a guest would see.
    assert guest_checksum(system, disk, http) == client.checksum(str(images.raw))
    back = tmp_path / "back.qcow2"
    with download(system, disk, format=COW) as down:
        back.write_bytes(http("GET", down.url)[2])
    subprocess.run(["qemu-img", "check", back], check=True)
    assert client.checksum(str(back)) == client.checksum(str(images.raw))
    world.disk_service(disk).remove()


def test_guest_data_can_be_taken_as_a_qcow2_file(system, world, images, engine, http, tmp_path):
    disk = disk_for(world, images, COW)
    with transfer(system, disk) as up:
        client.upload(str(images.raw), up.url, engine.ca_file)
    back = tmp_path / "made.qcow2"
    with download(system, disk, format=COW) as down:
        back.write_bytes(http("GET", down.url)[2])
    subprocess.run(["qemu-img", "check", back], check=True)
    subprocess.run(["qemu-img", "compare", "-f", "qcow2", "-F", "raw", back, images.raw], check=True)
    world.disk_service(disk).remove()


def test_a_clone_has_the_bytes_of_its_template(system, world, images, engine, http):
    disk = disk_for(world, images, COW)
    with transfer(system, disk) as up:
        client.upload(str(images.qcow2), up.url, engine.ca_file)
    vm = world.add_vm()
    world.attach_disk(vm, disk)
    templates = system.templates_service()
    template = templates.add(types.Template(name=world.name("bytes"), vm=types.Vm(id=vm.id)))
    service = templates.template_service(template.id)
    wait_for("the template", service.get, lambda t: t.status == types.TemplateStatus.OK)
    world.remove_vm(vm)
    expected = client.checksum(str(images.raw))
    for query in ({"clone": True}, {"clone": False}):
        copy = world.add_vm(template=template.name, query=query)
        attachment = world.vm_service(copy).disk_attachments_service().list()[0]
        assert guest_checksum(system, attachment.disk, http) == expected
        world.remove_vm(copy)


def test_a_grown_disk_reads_zeroes_at_its_end(system, world, images, engine):
    disk = disk_for(world, images, RAW)
    with transfer(system, disk) as up:
        client.upload(str(images.raw), up.url, engine.ca_file)
    service = world.disk_service(disk)
    service.update(types.Disk(provisioned_size=GIB))
    wait_for("the larger disk", service.get, lambda d: d.status == types.DiskStatus.OK and d.provisioned_size == GIB)
    with download(system, disk) as down:
        with client.ImageioClient(down.url, cafile=engine.ca_file) as remote:
            assert remote.size() == GIB
            last = list(remote.extents())[-1]
            assert (last.zero, last.start + last.length) == (True, GIB)
            assert last.length >= GIB - images.size
    service.remove()


def test_extents_show_data_and_holes(system, world, engine):
    disk = world.add_disk(size=64 * MIB, format=COW)
    with transfer(system, disk) as up:
        with client.ImageioClient(up.url, cafile=engine.ca_file) as remote:
            assert (remote.max_readers, remote.max_writers) == (8, 8)
            remote.write(16 * MIB, b"x" * MIB)
            remote.zero(16 * MIB + 65536, 65536)
            remote.flush()
        with client.ImageioClient(up.url, cafile=engine.ca_file) as remote:
            extents = [(e.start, e.length, e.zero, e.hole) for e in remote.extents()]
    assert extents == [
        (0, 16 * MIB, True, True),
        (16 * MIB, 65536, False, False),
        (16 * MIB + 65536, 65536, True, True),
        (16 * MIB + 131072, MIB - 131072, False, False),
        (17 * MIB, 47 * MIB, True, True),
    ]
    world.disk_service(disk).remove()


def test_the_ticket_opens_one_image_and_only_while_the_transfer_lasts(system, world, http):
    disk = world.add_disk(size=MIB, format=RAW)
    up = Transfer(system, disk)
    assert http("PUT", up.url, b"data")[0] == 200
    assert http("GET", up.url, range="bytes=0-3")[2] == b"data"
    base = up.url.rsplit("/", 1)[0]
    status, _, body = http("GET", f"{base}/12345678-1234-1234-1234-123456789abc")
    assert (status, b"No such ticket" in body) == (403, True)
    assert http("PUT", up.url, b"x" * 4, content_range=f"bytes {MIB}-{MIB + 3}/*")[0] == 416
    assert http("GET", up.url, range=f"bytes=0-{MIB}")[0] == 416
    assert http("PATCH", up.url, b"{}")[0] == 400
    up.finalize()
    assert http("GET", up.url)[0] == 403
    with download(system, disk) as down:
        assert http("PUT", down.url, b"data")[0] == 403
        assert http("GET", down.url, range="bytes=0-3")[2] == b"data"
    world.disk_service(disk).remove()


def test_bytes_that_are_no_image_make_the_disk_illegal(system, world, http):
    disk = world.add_disk(size=MIB, format=COW)
    up = Transfer(system, disk, format=COW)
    # An error page, saved as an image: it replaces the header of the new disk.
    assert http("PUT", up.url, b"<html>not found</html>".ljust(65536, b" "))[0] == 200
    up.service.finalize()
    up.wait(Phase.FINISHED_FAILURE)


def test_cancelling_an_upload_removes_the_new_disk(system, world, http):
    disk = world.add_disk(size=MIB, format=RAW)
    up = Transfer(system, disk)
    http("PUT", up.url, b"data")
    up.service.cancel()
    up.wait(Phase.FINISHED_CLEANUP)
    assert http("GET", up.url)[0] == 403
    world.wait_gone("the disk", world.disk_service(disk))


def test_a_paused_transfer_refuses_until_it_is_resumed(system, world, http):
    disk = world.add_disk(size=MIB, format=RAW)
    up = Transfer(system, disk)
    up.service.pause()
    up.wait(Phase.PAUSED_USER)
    assert http("GET", up.url)[0] == 403
    up.service.resume()
    again = up.wait(Phase.TRANSFERRING)
    assert http("PUT", again.transfer_url, b"data")[0] == 200
    up.finalize()
    world.disk_service(disk).remove()


# Three real seconds: longer than a client needs between two calls, also on a machine under load.
IDLE = 60


def test_an_idle_upload_is_paused_and_an_idle_download_is_cancelled(system, world):
    disk = world.add_disk(size=MIB, format=RAW)
    up = Transfer(system, disk, inactivity_timeout=IDLE, timeout_policy=types.ImageTransferTimeoutPolicy.LEGACY)
    up.wait(Phase.PAUSED_SYSTEM)
    up.service.resume()
    up.wait(Phase.TRANSFERRING)
    up.finalize()
    down = Transfer(
        system,
        disk,
        types.ImageTransferDirection.DOWNLOAD,
        inactivity_timeout=IDLE,
        timeout_policy=types.ImageTransferTimeoutPolicy.LEGACY,
    )
    down.wait(Phase.FINISHED_FAILURE)
    assert world.wait_disk(disk).status == types.DiskStatus.OK
    world.disk_service(disk).remove()


def test_a_disk_is_transferred_once_at_a_time(system, world):
    disk = world.add_disk(size=MIB, format=RAW)
    up = Transfer(system, disk)
    with pytest.raises(sdk.Error) as refused:
        Transfer(system, disk)
    assert refused.value.code == 409
    up.finalize()
    world.disk_service(disk).remove()

