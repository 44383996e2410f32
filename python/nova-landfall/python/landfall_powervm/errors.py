"""What went wrong, as Nova's exceptions. Nova's own only: others cannot cross from one service to the next."""

import contextlib

from nova import exception
from oslo_log import log as logging

LOG = logging.getLogger(__name__)


class CallFailed(Exception):
    """A call of the Rust half failed.

    kind says what kind of trouble it is: transient, throttled, locked, auth, not-found, invalid, capacity, timeout, bug.
    trace says what is left of what the call was to do: none, remains, stopped.
    """

    def __init__(self, call, **failure):
        self.kind = failure["class"]
        self.trace = failure["trace"]
        super().__init__(failure["message"])


@contextlib.contextmanager
def translated(make, log=None):
    """Raises what `make` returns for the reason, instead of CallFailed. An exception that has no room for the reason gets it logged,
    with what was attempted."""
    try:
        yield
    except CallFailed as failure:
        if log is not None:
            LOG.error("%(attempt)s failed: %(reason)s", {"attempt": log, "reason": failure})
        raise make(str(failure)) from failure


@contextlib.contextmanager
def build():
    """While an instance is made. Nova tries another host, unless the request itself is at fault."""
    try:
        yield
    except CallFailed as failure:
        reason = str(failure)
        if failure.kind == "capacity":
            raise exception.ComputeResourcesUnavailable(reason=reason) from failure
        raise exception.InstanceDeployFailure(reason=reason) from failure


def power_on():
    return translated(lambda reason: exception.InstancePowerOnFailure(reason=reason))


def power_off():
    return translated(lambda reason: exception.InstancePowerOffFailure(reason=reason))


def reboot():
    return translated(lambda reason: exception.InstanceRebootFailure(reason=reason))


def termination():
    return translated(lambda reason: exception.InstanceTerminationFailure(reason=reason))


def volume_attach(volume_id):
    return translated(lambda reason: exception.VolumeAttachFailed(volume_id=volume_id, reason=reason))


def volume_detach(volume_id):
    return translated(lambda reason: exception.VolumeDetachFailed(volume_id=volume_id, reason=reason))


def migration():
    return translated(lambda reason: exception.MigrationError(reason=reason))
