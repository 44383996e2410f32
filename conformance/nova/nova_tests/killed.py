"""Computes that are killed in the middle of a call.

All that Nova is runs in the process of the tests, which cannot be killed. What the driver asks the Rust half for can be carried out by
another process, which can: so that is what dies, and with it every thread that uses the same driver.
"""

import json
import pathlib
import subprocess
import sys
import threading

from landfall_powervm import driver as powervm_driver

SCRIPT = pathlib.Path(__file__).with_name("carry_out.py")


class Killed(BaseException):
    """What a thread meets whose process is gone. Nova expects nothing like it, and so does nothing about it."""


class Mortal:
    """Stands in for what a driver calls the Rust half by. Calls of one name are carried out by another process, within `held`, which is
    killed when it has come so far as `until` waits for."""

    def __init__(self, driver, url, call, held, until):
        self._calls = driver._calls
        self._settings = json.dumps({**powervm_driver._settings(driver._node), "url": url})
        self._call = call
        self._held = held
        self._until = until
        self.died = threading.Event()

    def __call__(self, call, instance=None, **arguments):
        if self.died.is_set():
            raise Killed
        if call != self._call:
            return self._calls(call, instance, **arguments)
        with self._held:
            process = subprocess.Popen([sys.executable, SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            try:
                process.stdin.write(f"{self._settings}\n{json.dumps({'call': call, **arguments})}\n")
                process.stdin.flush()
                self._until()
            finally:
                process.kill()
                process.wait()
        self.died.set()
        raise Killed
