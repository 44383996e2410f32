"""ansible-lint on the kit as a user gets it."""

import os
import subprocess
from pathlib import Path

import ansible_collections.ovirt.ovirt


def test_ansible_lint_is_content(labs):
    lab, _ = labs("lint")
    lab.landfall("upi", "create")
    lint = Path(os.environ["LINT_VENV"]) / "bin"
    collections = Path(list(ansible_collections.ovirt.ovirt.__path__)[0]).parents[2]
    environment = {
        **lab.environment(),
        "PATH": f"{lint}:{os.environ['PATH']}",
        "ANSIBLE_COLLECTIONS_PATH": str(collections),
    }
    playbooks = sorted(path.name for path in lab.kit.glob("*.yml"))
    command = [lint / "ansible-lint", "--offline", "--strict", "--profile", "production", "-c", os.devnull, *playbooks]
    done = subprocess.run(command, cwd=lab.kit, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failure(s), 0 warning(s)" in done.stdout + done.stderr
