"""Config drives: made by Nova's own builder, with the command that [DEFAULT] mkisofs_cmd names, and read into memory."""

import base64
import os
import tempfile

from nova.api.metadata import base as metadata
from nova.virt import configdrive


def image(context, instance, injected_files, admin_password, network_info):
    """The ISO image, in base64."""
    extra = {"admin_pass": admin_password} if admin_password else {}
    contents = metadata.InstanceMetadata(instance, content=injected_files, extra_md=extra, network_info=network_info)
    handle, path = tempfile.mkstemp(prefix="cfg_")
    os.close(handle)
    try:
        with configdrive.ConfigDriveBuilder(instance_md=contents) as builder:
            builder.make_drive(path)
        with open(path, "rb") as drive:
            return base64.b64encode(drive.read()).decode()
    finally:
        os.unlink(path)
