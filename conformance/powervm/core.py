"""Landfall's compute core as a process that does one operation after the other: `crates/platform-powervm/examples/operate.rs`."""

import json
import os
import subprocess


class Core:
    """The core, connected to a server."""

    def __init__(self, url, user, password, **settings):
        self.process = subprocess.Popen(
            [os.environ["LANDFALL_OPERATE"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._say({"url": url, "user": user, "password": password, **settings})

    def _say(self, line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def do(self, operation, **arguments):
        """Does an operation, and returns what came of it. One that fails is an AssertionError with the core's own words."""
        return self.timed(operation, **arguments)[0]

    def timed(self, operation, **arguments):
        """The same, and how many seconds it took."""
        self._say({"do": operation, **arguments})
        line = self.process.stdout.readline()
        assert line, f"the core has ended with {self.process.wait(10)}"
        answer = json.loads(line)
        assert "failed" not in answer, answer["failed"]
        return answer["done"], answer["seconds"]

    def stop(self):
        self.process.stdin.close()
        assert self.process.wait(10) == 0
