"""Image transfers with the SDK, as the example programs of the SDK do them."""

from contextlib import contextmanager

from ovirtsdk4 import types

from simulator import wait_for

Phase = types.ImageTransferPhase


class Transfer:
    def __init__(self, system, disk, direction=types.ImageTransferDirection.UPLOAD, **fields):
        services = system.image_transfers_service()
        fields = {"format": types.DiskFormat.RAW, **fields}
        made = services.add(types.ImageTransfer(disk=types.Disk(id=disk.id), direction=direction, **fields))
        self.service = services.image_transfer_service(made.id)
        self.entity = self.wait(Phase.TRANSFERRING)
        self.url = self.entity.transfer_url
        self.proxy_url = self.entity.proxy_url

    def wait(self, phase):
        return wait_for(f"transfer {phase}", self.service.get, lambda transfer: transfer.phase == phase)

    def finalize(self):
        self.service.finalize()
        return self.wait(Phase.FINISHED_SUCCESS)


@contextmanager
def transfer(system, disk, direction=types.ImageTransferDirection.UPLOAD, **fields):
    """A transfer that is finalized at the end, unless something went wrong: then it is cancelled."""
    under_way = Transfer(system, disk, direction, **fields)
    try:
        yield under_way
    except BaseException:
        under_way.service.cancel()
        raise
    under_way.finalize()


def download(system, disk, **fields):
    return transfer(system, disk, types.ImageTransferDirection.DOWNLOAD, **fields)
