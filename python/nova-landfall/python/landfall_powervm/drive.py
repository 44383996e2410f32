"""Config drives: made by Nova's own builder, with the command that [DEFAULT] mkisofs_cmd names, and read into memory."""

import base64

from nova.api.metadata import base as metadata
from nova.virt import configdrive

from landfall_powervm import images


def image(instance, injected_files, admin_password, network_info, directory):
    """The ISO image, in base64."""
    extra = {"admin_pass": admin_password} if admin_password else {}
    contents = metadata.InstanceMetadata(instance, content=injected_files, extra_md=extra, network_info=network_info)
    with images.room(directory, "config-drive") as path:
        with configdrive.ConfigDriveBuilder(instance_md=contents) as builder:
            builder.make_drive(path)
        with open(path, "rb") as drive:
            return base64.b64encode(drive.read()).decode()
