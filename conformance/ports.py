"""Ports for servers of other programs, which cannot be given a socket that is bound already.

Suites run side by side. Each process takes a block of ports that no other one has, by a lock that crates/testkit/src/ports.rs takes too.
"""

import fcntl
import socket
import tempfile
from pathlib import Path

FIRST, BLOCK, BLOCKS = 20_000, 100, 120

_block = None


class _Block:
    """A block of ports. Its lock ends with the process."""

    def __init__(self, number, lock):
        self.first, self.lock, self.given = FIRST + number * BLOCK, lock, 0

    def next(self):
        port = self.first + self.given % BLOCK
        self.given += 1
        return port


def _take():
    directory = Path(tempfile.gettempdir(), "landfall-test-ports")
    directory.mkdir(exist_ok=True)
    for number in range(BLOCKS):
        lock = (directory / str(number)).open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        return _Block(number, lock)
    raise RuntimeError(f"all {BLOCKS} blocks of ports are in use by other processes")


def free_port():
    """Returns a port of 127.0.0.1 that no other test has, free for UDP and for TCP."""
    global _block
    _block = _block or _take()
    for _ in range(BLOCK):
        port = _block.next()
        with socket.socket() as stream, socket.socket(type=socket.SOCK_DGRAM) as datagram:
            try:
                stream.bind(("127.0.0.1", port))
                datagram.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise RuntimeError(f"no port of {_block.first} to {_block.first + BLOCK - 1} is free for UDP and for TCP")
