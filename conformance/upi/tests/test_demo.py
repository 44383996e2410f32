"""`landfall demo ovirt-upi`, which tells the whole story by itself."""

import os
import subprocess

from lab import LANDFALL


def demo(path, **options):
    command = [LANDFALL, "demo", "ovirt-upi", "--masters", "1", "--workers", "1", "--time-scale", "50"]
    environment = {**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, **options)


def test_the_story_ends_well():
    done = demo(os.environ["PATH"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing of the cluster is left" in done.stderr
    assert "knows all" in done.stdout, done.stdout


def test_what_is_missing_is_said_before_anything_begins(tmp_path):
    done = demo(str(tmp_path))
    assert done.returncode == 1
    assert "there is no ansible-playbook" in done.stderr and "no haproxy (from haproxy)" in done.stderr, done.stderr
