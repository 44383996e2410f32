"""Does operations by pypowervm's own tasks: one line of JSON in, one out. `bench/compute-powervm` starts it."""

import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile
import threading
import time
import traceback
from unittest import mock

from core import Core
from peer import Peer
from pypowervm import adapter as adp


class Tasks:
    def __init__(self, server):
        os.environ["LANDFALL_OPERATE"] = os.environ["OPERATE"]
        self.core = Core(server["url"], server["user"], server["password"])
        self.turn = threading.Lock()
        port = int(server["url"].rsplit(":", 1)[1])
        session = adp.Session("127.0.0.1", server["user"], server["password"], protocol="http", port=port, certpath=None)
        self.peer = Peer(adp.Adapter(session, helpers=[]))

    def do(self, line):
        name, peer = line.pop("do"), self.peer
        if name == "spawn":
            wanted = line["blueprint"]
            iso = self.iso(wanted.pop("config_drive"))
            peer.spawn(wanted, iso)
            return None
        if name == "together":
            with concurrent.futures.ThreadPoolExecutor(len(line["operations"])) as pool:
                return [future.result() for future in [pool.submit(self.do, one) for one in line["operations"]]]
        operations = {
            "attach-volume": lambda: peer.attach_volume(line["partition"], line["volume"]),
            "detach-volume": lambda: peer.detach_volume(line["partition"], line["volume"]),
            "destroy": lambda: peer.destroy(line["partition"]),
        }
        return operations[name]()

    def iso(self, drive):
        """A config drive. It is made by the core, which asks nobody for that, so that both upload as much."""
        with self.turn, tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "drive.iso"
            self.core.do("config-drive", drive=drive, file=str(file))
            return file.read_bytes()


def serve(connect, lines=sys.stdin):
    """Answers lines until there are no more."""
    lines = iter(lines.readline, "")
    client = connect(json.loads(next(lines)))
    for line in lines:
        line, began = json.loads(line), time.perf_counter()
        try:
            answer = {"done": client.do(line)}
        except Exception:
            answer = {"failed": traceback.format_exc()}
        print(json.dumps({**answer, "seconds": time.perf_counter() - began}), flush=True)


if __name__ == "__main__":
    # It reads a file that only POWER kernels have.
    with mock.patch("pypowervm.util.my_partition_id", return_value=1):
        serve(Tasks)
