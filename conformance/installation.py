"""An install directory, and the real program that works in it and can be killed."""

import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

# Only a failing test waits so long for a program to end.
RUN_TIMEOUT = 900

# Files that machines pin, or hold a copy of.
HANDED_OUT = ("bootstrap.ign", "master.ign", "worker.ign", "auth/kubeconfig", ".landfall/asset-host.json")

JOURNAL = ".landfall/journal.sqlite"
FROZEN = ".landfall/frozen.json"
IDENTITY = ".landfall/cluster.json"

# How far a step has come, by its state in the journal. A step that is being made and has noted an id is at 2.
STATES = {"ensuring": 1, "done": 3, "failed": 3, "removing": 4, "remove-failed": 5, "removed": 5}


class Installation:
    """An install directory and a home. Programs see no other environment than the variables that are given."""

    def __init__(self, directory, config, variables, files=None):
        self.home = directory / "home"
        self.home.mkdir()
        self.path = directory / "dir"
        self.path.mkdir()
        self.variables = variables
        self._runs, self._journal = 0, None
        # What is JSON is YAML, too.
        (self.path / "install-config.yaml").write_text(json.dumps(config, indent=1))
        for name, text in (files or {}).items():
            (self.path / name).write_text(text)
            (self.path / name).chmod(0o600)

    def start(self, *arguments):
        self._runs += 1
        command = [os.environ["LANDFALL_BIN"], *arguments, "--dir", str(self.path)]
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], **self.variables}
        return Run(command, environment, self.home / f"run-{self._runs}")

    def run(self, *arguments):
        run = self.start(*arguments)
        run.wait()
        return run

    def move(self, path):
        """Copies the directory elsewhere, and removes the first one, so that nothing can lead there any more."""
        shutil.copytree(self.path, path, symlinks=True)
        shutil.rmtree(self.path)
        self.path, self._journal = path, None

    def infra_id(self):
        return json.loads((self.path / IDENTITY).read_text())["infraId"]

    def digests(self):
        """Returns the digests of what was handed out, by the names of the files."""
        present = [name for name in HANDED_OUT if (self.path / name).exists()]
        return {name: hashlib.sha256((self.path / name).read_bytes()).hexdigest() for name in present}

    def journal(self):
        """Returns how many records the journal has, and how far all steps have come together. None if it cannot be read."""
        rows = self._read("SELECT state, outputs IS NOT NULL, (SELECT count(*) FROM record) FROM step")
        if rows is None:
            return None
        steps = sum(STATES[state] + (state == "ensuring" and noted) for state, noted, _ in rows)
        return (rows[0][2] if rows else 0), steps

    def records(self):
        """Returns the records of the journal, each as step and kind. None if it cannot be read."""
        rows = self._read("SELECT DISTINCT step, record FROM record")
        return None if rows is None else set(rows)

    def steps(self):
        """Returns a line for each step in the journal, for the message of a failure."""
        return [f"{step}: {state}" for step, state in self._read("SELECT id, state FROM step ORDER BY position") or ()]

    def _read(self, question):
        """Asks the journal. None if it is not there yet, or is being begun at this instant."""
        if self._journal is None:
            if not (self.path / JOURNAL).exists():
                return None
            self._journal = _connect(self.path / JOURNAL, "ro")
        try:
            return self._journal.execute(question).fetchall()
        except sqlite3.OperationalError:
            return self._read_copy(question)

    def _read_copy(self, question):
        """Asks a copy of a journal that a process was writing into when it was killed. Whoever opens it undoes that first, and that is
        left to the next process."""
        with tempfile.TemporaryDirectory() as directory:
            for name in (JOURNAL, JOURNAL + "-journal"):
                # The process that writes the journal deletes the second file at any moment.
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy(self.path / name, directory)
            with contextlib.closing(_connect(pathlib.Path(directory) / pathlib.Path(JOURNAL).name, "rw")) as copy:
                try:
                    return copy.execute(question).fetchall()
                except sqlite3.Error:
                    return None

    def hold_journal(self):
        """Keeps every other process from writing into the journal, until `close` is called on what is returned."""
        journal = _connect(self.path / JOURNAL, "rw")
        journal.execute("BEGIN IMMEDIATE")
        return journal


def _connect(path, mode):
    return sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, timeout=10, isolation_level=None)


class Run:
    """A run of the program. Its output goes to files, so that it never waits for a reader and a failing test keeps it."""

    def __init__(self, command, environment, output):
        self.command, self.output = command, pathlib.Path(output)
        with open(output.with_suffix(".stdout"), "wb") as stdout, open(output.with_suffix(".stderr"), "wb") as stderr:
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr
            )

    def ended(self):
        return self.process.poll() is not None

    def kill(self):
        """Does what `kill -9` does."""
        self.process.kill()
        self.process.wait()

    def wait(self):
        """Returns the exit code."""
        try:
            return self.process.wait(RUN_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{' '.join(self.command)} does not end: {self.stderr()}") from None

    def told(self):
        """Returns how much it has said on stderr."""
        return self.output.with_suffix(".stderr").stat().st_size

    def stdout(self):
        return self.output.with_suffix(".stdout").read_text(errors="replace")

    def stderr(self):
        return self.output.with_suffix(".stderr").read_text(errors="replace")
