"""The simulator under test, as a process of its own, and its admin endpoint."""

import collections
import contextlib
import json
import os
import pathlib
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

# Seconds that only a failure takes: a machine may have a dozen processes for each of its processors.
START_TIMEOUT = 120
STOP_TIMEOUT = 120
ADMIN_TIMEOUT = 60

# A failure shows this much of a simulator.
LOG_LINES = 30
STDERR_LINES = 40
STATE_LINES = 80

# Simulators of this process: those that run, and those that ended since the last test began.
_known = []


class Simulator:
    """One running simulator, as LANDFALL_SIM says. What it says on stderr is kept in its directory."""

    def __init__(self, directory, *options, guests="plain"):
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.log_file = directory / "requests.jsonl"
        self.stderr_file = directory / "stderr.log"
        command = shlex.split(os.environ["LANDFALL_SIM"])
        defaults = {"--listen": "127.0.0.1:0", "--time-scale": str(TIME_SCALE), "--guests": guests, "--log-requests": str(self.log_file)}
        for flag, value in defaults.items():
            if flag not in options and value is not None:
                command += [flag, value]
        command += [str(option) for option in options]
        with open(self.stderr_file, "ab") as stderr:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, text=True
            )
        self.admin_url = None
        self._requests, self._read, self._reading = [], 0, threading.Lock()
        _known.append(self)
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
            raise RuntimeError(f"cannot start a simulator: it is not ready: {self.stderr_file.read_text()}")
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
            with urllib.request.urlopen(request, timeout=ADMIN_TIMEOUT) as answer:
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
        with self._reading:
            if self.log_file.exists():
                # Tests look again and again: lines that were read are kept, and one that is not complete is read later.
                with open(self.log_file, "rb") as log:
                    log.seek(self._read)
                    complete = log.read().rpartition(b"\n")[:2]
                self._requests += [json.loads(line) for line in complete[0].splitlines()]
                self._read += sum(map(len, complete))
            return self._requests[after:]

    # A test that failed.

    def evidence(self):
        """Last requests, messages and state, for the report of a failure. The whole state goes to a file beside the log."""
        code = self.process.poll()
        parts = [f"pid {self.process.pid}, {'running' if code is None else f'ended with {code}'}, files in {self.directory}"]
        parts += _tail("requests", self.log_file, LOG_LINES) + _tail("stderr", self.stderr_file, STDERR_LINES)
        if code is None and self.admin_url:
            for path in ("/clock", "/faults", "/state"):
                try:
                    seen = self.admin("GET", path)
                except (AssertionError, OSError, ValueError) as error:
                    parts.append(f"{path}: {error}")
                    continue
                if path == "/state":
                    file = self.directory / "state-at-failure.json"
                    file.write_text(json.dumps(seen, indent=1))
                    parts.append(f"state (all of it in {file}):")
                    parts += _shortened(seen)
                elif seen:
                    parts.append(f"{path}: {json.dumps(seen)}")
        return "\n".join(parts)


def _tail(what, file, count):
    if not file.exists():
        return [f"{what}: none"]
    with open(file, encoding="utf-8", errors="replace") as lines:
        last = list(collections.deque(lines, maxlen=count))
    return [f"{what} (last {len(last)} lines):", *(line.rstrip("\n") for line in last)]


def _shortened(state):
    """A line for each object of a state, up to a limit: plain fields of those that have an id or a name, and what is long is cut."""
    lines = []

    def describe(path, value):
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        inner = [(key, part) for key, part in inner if isinstance(part, (dict, list))]
        is_object = isinstance(value, dict) and (value.keys() & {"id", "name"})
        if inner and not is_object:
            for key, part in inner:
                describe(f"{path}.{key}".lstrip("."), part)
        elif value:
            plain = value if isinstance(value, list) else {key: part for key, part in value.items() if not isinstance(part, (dict, list))}
            lines.append(f"  {path}: {json.dumps(plain)[:250]}")

    describe("", state)
    left = len(lines) - STATE_LINES
    return lines[:STATE_LINES] + ([f"  and {left} lines more"] if left > 0 else [])


def evidence():
    """(title, text) for each simulator that runs, or ended during this test."""
    return [(f"simulator {pathlib.Path(one.directory).name}", one.evidence()) for one in _known]


def forget_ended():
    """Begins a test: simulators that ended before it have no part in its failure."""
    _known[:] = [one for one in _known if one.process.poll() is None]


def show_simulators(case):
    """Adds the evidence to a test case of testtools that has just failed."""
    from testtools import content

    for title, text in evidence():
        case.addDetail(title, content.text_content(text))


@contextlib.contextmanager
def started(make_directory):
    """A function that starts simulators; the ones still running at the end are stopped, and must stop in good order."""
    running = []

    def start(name, *options, directory=None, **settings):
        simulator = Simulator(directory or make_directory(name), *options, **settings)
        running.append(simulator)
        return simulator

    yield start
    for simulator in running:
        if simulator.process.poll() is None:
            simulator.stop()


def wait_for(what, look, wanted, timeout=120, every=0.05, progress=None):
    """Calls `look` until `wanted` accepts its result; fails with the last result when nothing has changed for `timeout` seconds.

    The deadline is one of progress: each change begins it anew, ten times at most, so that a machine under load is waited for and
    one that stands still is not. Plain data is compared as it is; for objects `progress` returns the part that counts.
    """
    progress = progress or (lambda seen: seen if _is_plain(seen) else None)
    begin = last = time.monotonic()
    reached = None
    while True:
        seen = look()
        if wanted(seen):
            return seen
        now = time.monotonic()
        if (current := progress(seen)) != reached:
            reached, last = current, now
        if now > last + timeout or now > begin + 10 * timeout:
            raise AssertionError(f"{what} did not happen within {now - begin:.0f} s, the last {now - last:.0f} s without progress; last seen: {seen!r}")
        time.sleep(every)


def _is_plain(value):
    """Whether two equal values are equal for Python: objects of clients often are not."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return value is None or isinstance(value, (str, bytes, int, float))
