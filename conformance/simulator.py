"""The simulator under test, as a process of its own, and its admin endpoint."""

import contextlib
import json
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

# Simulated seconds per real second. High enough that nothing is waited for, low enough that the clients, who sleep a real
# second between two looks at a transfer, are not idle for longer than an engine's minute.
TIME_SCALE = 20

START_TIMEOUT = 30
STOP_TIMEOUT = 30


class Simulator:
    """One running simulator, as LANDFALL_SIM says. What it says on stderr is kept in its directory."""

    def __init__(self, directory, *options):
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.log_file = directory / "requests.jsonl"
        self.stderr_file = directory / "stderr.log"
        command = shlex.split(os.environ["LANDFALL_SIM"])
        defaults = {"--listen": "127.0.0.1:0", "--time-scale": str(TIME_SCALE), "--guests": "plain", "--log-requests": str(self.log_file)}
        for flag, value in defaults.items():
            if flag not in options:
                command += [flag, value]
        command += [str(option) for option in options]
        with open(self.stderr_file, "ab") as stderr:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, text=True
            )
        try:
            self.ready = self._read_ready()
        except BaseException:
            self.kill()
            raise
        self.url = self.ready["url"]
        self.ca_file = self.ready.get("ca_file")
        self.user = self.ready.get("user")
        self.password = self.ready.get("password")
        self.admin_url = self.ready["admin_url"]

    def _read_ready(self):
        """The first line of stdout. Everything after it is drained, so that the process never blocks on a full pipe."""
        lines = queue.Queue()

        def drain():
            for line in self.process.stdout:
                lines.put(line)
            lines.put("")

        threading.Thread(target=drain, daemon=True).start()
        try:
            line = lines.get(timeout=START_TIMEOUT)
        except queue.Empty:
            line = ""
        if not line:
            raise RuntimeError(f"the simulator did not become ready: {self.stderr_file.read_text()}")
        return json.loads(line)

    @property
    def api_url(self):
        return self.url if self.url.endswith("/api") else f"{self.url}/ovirt-engine/api"

    def stop(self):
        """Ends it as a user would, and insists that it ends in good order."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(STOP_TIMEOUT)
        assert code == 0, f"the simulator ended with {code}: {self.stderr_file.read_text()}"
        assert "panicked" not in self.stderr_file.read_text(), self.stderr_file.read_text()

    def kill(self):
        """Ends it as a crash would."""
        self.process.kill()
        self.process.wait(STOP_TIMEOUT)

    # The admin endpoint.

    def admin(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.admin_url + path, data=data, method=method, headers={"content-type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error

    def add_fault(self, rule):
        self.admin("POST", "/faults", {"rule": rule})

    def clear_faults(self):
        self.admin("DELETE", "/faults")

    # The request log.

    def requests(self, after=0):
        """The requests logged so far, as a list of objects, without the first `after`."""
        if not self.log_file.exists():
            return []
        return [json.loads(line) for line in self.log_file.read_text().splitlines()[after:]]


@contextlib.contextmanager
def started(make_directory):
    """A function that starts simulators; the ones still running at the end are stopped, and must stop in good order."""
    running = []

    def start(name, *options, directory=None):
        simulator = Simulator(directory or make_directory(name), *options)
        running.append(simulator)
        return simulator

    yield start
    for simulator in running:
        if simulator.process.poll() is None:
            simulator.stop()


def wait_for(what, look, wanted, timeout=60, every=0.05):
    """Calls `look` until `wanted` says that what it returned will do; says what was seen last if that never happens."""
    deadline = time.monotonic() + timeout
    while True:
        seen = look()
        if wanted(seen):
            return seen
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not happen within {timeout} s; last seen: {seen!r}")
        time.sleep(every)
