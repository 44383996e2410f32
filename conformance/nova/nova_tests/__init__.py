"""Tests of the driver inside Nova."""

import sys

# Standard output is the stream of results, which stestr has a hold of already. A thread that prints into the middle of one spoils it.
sys.stdout = sys.stderr

# Before anything else: it decides between green threads and real ones.
import nova.tests.functional  # noqa: F401
