"""Calls of the Rust half.

A call is begun from whichever thread wants it, and waited for on a native one: under eventlet in its pool of those, so that green
threads go on. What the call has to say is logged by the thread that waits, which is the one that oslo.log knows the request of.
"""

import contextlib
import json
import sys

from oslo_log import log as logging

from landfall_powervm import errors

LOG = logging.getLogger(__name__)

# What a call says last.
ENDS = ("done", "failed")


def _wait_natively(function):
    eventlet = sys.modules.get("eventlet")
    if eventlet is not None and eventlet.patcher.is_monkey_patched("thread"):
        from eventlet import tpool

        return tpool.execute(function)
    return function()


class Calls:
    """Calls over one connection."""

    def __init__(self, connection):
        self._connection = connection

    def __call__(self, call, instance=None, **arguments):
        """Carries out a call and returns its value. Raises errors.CallFailed."""
        task = self._connection.start(json.dumps({"call": call, **arguments}))
        about = {"instance": instance} if instance is not None else {}
        with _cancelled_if_interrupted(task):
            while True:
                kind, text = _wait_natively(task.next)
                if kind == "done":
                    return json.loads(text)
                if kind == "failed":
                    raise errors.CallFailed(call, **json.loads(text))
                getattr(LOG, kind)("%(call)s: %(text)s", {"call": call, "text": text}, **about)


@contextlib.contextmanager
def _cancelled_if_interrupted(task):
    try:
        yield
    except errors.CallFailed:
        raise
    except BaseException:
        # Whoever waits is killed. The call stops at its next step, and its journal says how far it was. That belongs to it until then,
        # and whoever cleans up needs it.
        task.cancel()
        while _wait_natively(task.next)[0] not in ENDS:
            pass
        raise
