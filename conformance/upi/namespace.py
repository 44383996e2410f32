"""Networks of their own, which end with those who use them."""

import contextlib
import ctypes
import os
import subprocess

CLONE_NEWNET = 0x40000000


def run(script, environment, timeout=600):
    """Runs a shell script as the first process of its own network, mounts and processes: everything that it starts dies with it."""
    command = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)


@contextlib.contextmanager
def loopback(*addresses):
    """Moves this thread, and whatever it starts, into a network with nothing but a loopback interface that has these addresses."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(function, *arguments):
        if function(*arguments) != 0:
            raise OSError(ctypes.get_errno(), f"{function.__name__} failed")

    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        call(libc.unshare, CLONE_NEWNET)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        for address in addresses:
            subprocess.run(["ip", "address", "add", f"{address}/128", "dev", "lo", "nodad"], check=True)
        yield
    finally:
        call(libc.setns, before, CLONE_NEWNET)
        os.close(before)
