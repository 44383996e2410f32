"""A process that carries out one call, for a test to kill: settings and call come on standard input, a line of JSON each."""

import sys

from landfall_powervm import _core

connection = _core.Connection(sys.stdin.readline())
task = connection.start(sys.stdin.readline())
while True:
    kind, text = task.next()
    print(kind, text, flush=True)
    if kind in ("done", "failed"):
        break
