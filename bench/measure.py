"""What the benchmarks of whole installations share: a simulator, a run that is measured, and the journal of an installation."""

import datetime
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCALE = float(os.environ.get("SCALE", "5"))
SAMPLE_SECONDS = 0.1
# Every process of a measured program inherits it, also one that puts itself into the background.
MARK = "LANDFALL_BENCH_RUN"


class Simulator:
    """`landfall sim PLATFORM` as a process of its own."""

    def __init__(self, landfall, directory, platform, *options):
        self.process = subprocess.Popen(
            [landfall, "sim", platform, "--time-scale", str(SCALE), *options],
            stdout=subprocess.PIPE,
            stderr=open(directory / "simulator.log", "w"),
            text=True,
        )
        self.ready = json.loads(self.process.stdout.readline())

    def admin(self, method, path, body=None):
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.ready['admin_url']}/{path}", method=method, data=body, headers=headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def now(self):
        return self.admin("GET", "clock")["now"]["seconds"]

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Memory(threading.Thread):
    """Peak of the memory of all processes of a run, with what they share counted once."""

    def __init__(self, mark):
        super().__init__(daemon=True)
        self.mark, self.peak_kib, self.ended = f"{MARK}={mark}".encode(), 0, threading.Event()

    def run(self):
        while not self.ended.wait(SAMPLE_SECONDS):
            self.peak_kib = max(self.peak_kib, sum(map(self.resident, pathlib.Path("/proc").glob("[0-9]*"))))

    def resident(self, process):
        try:
            if self.mark not in (process / "environ").read_bytes().split(b"\0"):
                return 0
            lines = (process / "smaps_rollup").read_text().splitlines()
            return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except (OSError, StopIteration):  # It has ended, or belongs to somebody else.
            return 0


class Measured:
    """A command that is run to its end: how long it took on both clocks, its memory, and the calls it made."""

    def __init__(self, simulator, label, command, environment, prefix=""):
        simulator.admin("DELETE", "requests")
        memory = Memory(label)
        memory.start()
        began, wall = simulator.now(), time.perf_counter()
        done = subprocess.run(
            command, env={**os.environ, **environment, MARK: label}, capture_output=True, text=True, check=False
        )
        self.wall, self.simulated = time.perf_counter() - wall, simulator.now() - began
        memory.ended.set()
        memory.join()
        self.label, self.peak_mib = label, memory.peak_kib / 1024
        self.calls = {
            kind.replace(prefix, ""): count
            for kind, count in simulator.admin("GET", "requests")["requests"].items()
        }
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


class Journal:
    """The steps of an installation as its journal tells them, in seconds of the simulated clock."""

    def __init__(self, path):
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.needs = {step: json.loads(spec)["needs"] for step, spec in database.execute("SELECT id, spec FROM step")}
        self.spans, done = {}, set()
        for at, step, record in database.execute("SELECT at, step, record FROM record ORDER BY sequence"):
            verb, moment = record.rsplit("-", 1)
            name = step if verb == "ensure" else f"{step} removed"
            if name in done:
                # The second stage looks at everything again.
                name = f"{name} again"
                self.needs[name] = list(self.needs[step])
            if moment == "done":
                done.add(name)
            at = datetime.datetime.fromisoformat(at).timestamp() * SCALE
            self.spans.setdefault(name, [at, at])[0 if moment == "begins" else 1] = at
        # What only the beginning needs goes when it has done its work, in the reverse of the order in which it came.
        removed = [name for name in self.spans if name.endswith(" removed")]
        for name in removed:
            step = name.removesuffix(" removed")
            above = (f"{other} removed" for other, needs in self.needs.items() if step in needs)
            self.needs[name] = ["wait/bootstrap", *(other for other in above if other in self.spans)]
        # And what begins after the bootstrap machine is gone has waited for that.
        gone = "vm/bootstrap removed"
        for step in set(self.spans) - set(removed):
            if gone in self.spans and self.spans[step][0] >= self.spans[gone][1]:
                self.needs[step] = [*self.needs.get(step, []), gone]

    def length(self, step):
        begin, end = self.spans[step]
        return end - begin

    def makespan(self, steps=None):
        spans = [self.spans[step] for step in steps or self.spans]
        return max(end for _, end in spans) - min(begin for begin, _ in spans)

    def critical_path(self):
        """The longest chain, as its length and its steps."""
        chains = {}

        def chain(step):
            if step not in chains:
                before = max((chain(need) for need in self.needs[step] if need in self.spans), default=(0.0, []))
                chains[step] = (before[0] + self.length(step), [*before[1], step])
            return chains[step]

        return max(chain(step) for step in self.spans)

    def machines(self):
        return [step for step in self.spans if step.startswith("vm/") and not step.endswith(" removed")]


def print_steps(journal):
    path_length, path = journal.critical_path()
    machines = journal.machines()
    alone = sorted(journal.length(step) for step in machines)
    print("\n| from the journal, in simulated seconds | makespan | critical path | longer by |")
    print("|---|---|---|---|")
    for what, makespan, length in (
        ("whole installation", journal.makespan(), path_length),
        ("all machines", journal.makespan(machines), max(journal.length(step) for step in machines)),
    ):
        print(f"| {what} | {makespan:.1f} | {length:.1f} | {(makespan / length - 1) * 100:.0f} % |")
    print(f"\nCritical path: {' → '.join(path)}.")
    print(f"One machine: {alone[0]:.1f} to {alone[-1]:.1f} s, median {alone[len(alone) // 2]:.1f} s.")


def print_calls(runs, machines):
    kinds = sorted({kind for run in runs for kind in run.calls})
    heads = "".join(f" {run.label} | per machine |" for run in runs)
    print(f"\n| calls by kind |{heads}\n|---|{'---|---|' * len(runs)}")
    for kind in [*kinds, "all"]:
        cells = ""
        for run, count in zip(runs, machines):
            calls = sum(run.calls.values()) if kind == "all" else run.calls.get(kind, 0)
            cells += f" {calls} | {calls / count:.1f} |" if calls else " | |"
        print(f"| {kind if kind == 'all' else f'`{kind}`'} |{cells}")


def print_runs(runs):
    print("| command | simulated, s | wall, s | peak memory, MiB | calls |")
    print("|---|---|---|---|---|")
    for run in runs:
        print(f"| {run.label} | {run.simulated:.1f} | {run.wall:.1f} | {run.peak_mib:.1f} | {sum(run.calls.values())} |")
