"""Tests of the driver inside Nova."""

# Before anything else: it decides between green threads and real ones.
import nova.tests.functional  # noqa: F401
