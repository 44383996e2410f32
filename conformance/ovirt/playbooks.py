"""Running ansible-playbook, and reading what every task did."""

import json
import os
import subprocess
import sys
from pathlib import Path

PLAYS = Path(__file__).parent / "plays"
TIMEOUT = 600


class Run:
    """A finished run: the results of its tasks by their names, in order."""

    def __init__(self, report, requests):
        self.stats = report["stats"]["localhost"]
        self.requests = requests
        self.tasks = {}
        for play in report["plays"]:
            for task in play["tasks"]:
                result = task["hosts"].get("localhost")
                if result is not None:
                    self.tasks.setdefault(task["task"]["name"], []).append(result)

    def __getitem__(self, name):
        """The result of the only task with that name."""
        (result,) = self.tasks[name]
        return result

    def changed(self):
        """The names of the tasks that say they changed something, without those that only set up the play."""
        return [name for name, results in self.tasks.items() if any(r.get("changed") for r in results)]

    def writes(self):
        """The calls that could have changed something in the engine."""
        return [
            f"{r['method']} {r['path']}"
            for r in self.requests
            if r["method"] not in ("GET", "HEAD", "OPTIONS") and "/sso" not in r["path"]
        ]


def run(simulator, play, variables, check=False):
    """Runs one play against a simulator; anything but success is an error that shows the failed tasks."""
    before = len(simulator.requests())
    work = simulator.directory / "ansible"
    work.mkdir(exist_ok=True)
    variables = {
        "ansible_python_interpreter": sys.executable,
        "engine_url": simulator.api_url,
        "engine_user": simulator.user,
        "engine_password": simulator.password,
        "engine_cafile": simulator.ca_file,
        "engine_insecure": False,
        **variables,
    }
    command = ["ansible-playbook", "-i", "localhost,", "-e", json.dumps(variables), str(PLAYS / play)]
    environment = {
        **os.environ,
        "ANSIBLE_HOME": str(work),
        "ANSIBLE_ASYNC_DIR": str(work / "async"),
        "ANSIBLE_CONFIG": str(PLAYS / "ansible.cfg"),
        "ANSIBLE_LOCAL_TEMP": str(work / "tmp"),
        "ANSIBLE_REMOTE_TEMP": str(work / "tmp"),
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        command + (["--check"] if check else []), env=environment, capture_output=True, text=True, timeout=TIMEOUT
    )
    try:
        report = json.loads(done.stdout[done.stdout.index("{") :])
    except ValueError:
        raise AssertionError(f"ansible-playbook ended with {done.returncode}:\n{done.stdout}\n{done.stderr}") from None
    finished = Run(report, simulator.requests(after=before))
    if done.returncode != 0:
        failed = {
            name: [r.get("msg") or r for r in results if r.get("failed") or r.get("unreachable")]
            for name, results in finished.tasks.items()
        }
        failed = {name: messages for name, messages in failed.items() if messages}
        raise AssertionError(f"{play} failed: {json.dumps(failed, indent=2)[:6000]}\n{done.stderr[-2000:]}")
    return finished
