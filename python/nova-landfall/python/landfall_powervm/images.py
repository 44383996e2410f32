"""Glance's images, as files and disks.

An image is copied to a file in pieces, as they come, and from there to the server. In a shared storage pool it is kept while disks
are made from it, so most instances need no file at all.
"""

import contextlib
import glob
import os
import re
import tempfile

from nova import exception
from nova.image import glance
from oslo_utils import fileutils

# The server allows no more in the name of a disk, and puts some digits before it.
NAME_LENGTH = 60


DEVICES = "/dev/disk/by-id"
SCANS = "/sys/class/scsi_host/host*/scan"
# The name of the disk that an instance boots from.
BOOT = "boot"


def boot_disk(gib, place, image):
    """A disk from an image. A flavor without a size means that of the image."""
    return {"name": BOOT, "gib": float(gib), "place": place, "image": image}


def growth(instance, place):
    """The boot disk, which is the first, as large as the flavor says. It may be larger: a resize that was reverted leaves it so."""
    return {"number": 0, "name": BOOT, "place": place, "gib": float(instance.flavor.root_gb), "or_larger": True}


def blank_disks(block_device_info, place):
    """The disks of a flavor that are empty at first."""
    found = block_device_info or {}
    disks = [
        {"name": f"ephemeral{number}", "gib": float(disk["size"]), "place": place, "image": None}
        for number, disk in enumerate(found.get("ephemerals") or [])
    ]
    swap = found.get("swap") or {}
    if swap.get("swap_size"):
        disks.append({"name": "swap", "gib": swap["swap_size"] / 1024, "place": place, "image": None})
    return disks


def check(image_meta):
    """Only raw images can be written to disks as they are."""
    disk_format = image_meta.disk_format if "disk_format" in image_meta else None
    if disk_format not in (None, "raw"):
        reason = f"its format is {disk_format}; PowerVM boots from raw images only"
        raise exception.ImageUnacceptable(image_id=image_meta.id, reason=reason)


def name(image_meta):
    """A name that means these contents and no others."""
    title = image_meta.name if "name" in image_meta and image_meta.name else "image"
    checksum = image_meta.checksum if "checksum" in image_meta and image_meta.checksum else image_meta.id
    digits = re.sub(r"[^0-9a-f]", "", checksum.lower())[:32]
    title = re.sub(r"[^A-Za-z0-9_.-]", "_", title)
    return f"image_{title}"[: NAME_LENGTH - len(digits) - 1] + f"_{digits}"


def sweep(directory):
    """Removes the files of a process that was killed. Nobody else has files in this directory."""
    fileutils.ensure_tree(directory)
    for entry in os.scandir(directory):
        os.unlink(entry.path)


@contextlib.contextmanager
def room(directory, what):
    """A file for something, which goes at the end."""
    handle, path = tempfile.mkstemp(prefix=f"{what}.", dir=directory)
    os.close(handle)
    try:
        yield path
    finally:
        os.unlink(path)


@contextlib.contextmanager
def file(context, image_id, directory):
    """The image in a file."""
    with room(directory, image_id) as path:
        # Piece by piece, with signatures checked if Nova is told to.
        glance.API().download(context, image_id, dest_path=path)
        yield path


def devices():
    """Where the management partition shows its disks."""
    return {"directory": DEVICES, "scans": glob.glob(SCANS), "interval_seconds": 1}


def upload(context, instance, image_id, path):
    """Gives a snapshot to Glance."""
    api = glance.API()
    snapshot = api.get(context, image_id)
    metadata = {
        "name": snapshot["name"],
        "status": "active",
        "disk_format": "raw",
        "container_format": "bare",
        "properties": {"image_location": "snapshot", "image_state": "available", "status": "available", "owner_id": instance.project_id},
    }
    with open(path, "rb") as source:
        api.update(context, image_id, metadata, source)
