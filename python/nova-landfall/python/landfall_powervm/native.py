"""Calls of the Rust half.

A call is begun from whichever thread wants it, and waited for on a native one: under eventlet in its pool of those, so that green
threads go on. What the call has to say is logged by the thread that waits, which is the one that oslo.log knows the request of.
A call that goes on until it is stopped has a thread of its own.
"""

import contextlib
import json
import sys
import threading

from oslo_log import log as logging

from landfall_powervm import errors

LOG = logging.getLogger(__name__)

# What a call says last.
ENDS = ("done", "failed")
# How often a thread that waits for a call without an end looks whether the process itself ends, and how long others wait for it, in seconds.
LOOK = 1
FAREWELL = 10


def _green():
    """Whether threads are green ones."""
    eventlet = sys.modules.get("eventlet")
    return eventlet is not None and eventlet.patcher.is_monkey_patched("thread")


def _wait_natively(function, *arguments):
    if _green():
        from eventlet import tpool

        return tpool.execute(function, *arguments)
    return function(*arguments)


def _log(call, level, text, **about):
    getattr(LOG, level)("%(call)s: %(text)s", {"call": call, "text": text}, **about)


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
                _log(call, kind, text, **about)

    def watch(self, call, handle, **arguments):
        """Begins a call that goes on until it is stopped, and lets `handle` have what it tells, in a thread that is nobody's: a green one
        where those are what Nova has."""
        return Watch(self._connection.start(json.dumps({"call": call, **arguments})), call, handle)


class Watch:
    """A call that goes on until it is stopped."""

    def __init__(self, task, call, handle):
        self._task = task
        self._call = call
        self._handle = handle
        # A real thread must not be in Rust when the interpreter ends, so that waits for it. Green ones end with their hub.
        self._thread = threading.Thread(target=self._run, name=f"landfall-{call}", daemon=_green())
        self._thread.start()

    def stop(self):
        self._task.cancel()
        self._thread.join(FAREWELL)

    def _run(self):
        # Whoever is the main thread may end without having stopped this.
        while _green() or threading.main_thread().is_alive():
            said = _wait_natively(self._task.next_within, LOOK)
            if said is None:
                continue
            kind, text = said
            if kind == "news":
                self._tell(json.loads(text))
            elif kind == "failed":
                LOG.error("%(call)s ended: %(reason)s", {"call": self._call, "reason": json.loads(text)["message"]})
                return
            elif kind == "done":
                return
            else:
                _log(self._call, kind, text)
        self._task.cancel()

    def _tell(self, news):
        try:
            self._handle(news)
        except Exception:
            LOG.exception("%(call)s: nobody could be told of %(news)s", {"call": self._call, "news": news})


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
