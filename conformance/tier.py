"""Tier of the tests: `gate` holds at each merge and has every kind of check, `full` adds the repetitions.

LANDFALL_TIER chooses it. It is read here and nowhere else; tests ask this module.
"""

import os
import unittest

TIER = os.environ.get("LANDFALL_TIER") or "gate"
if TIER not in ("gate", "full"):
    raise SystemExit(f"cannot read LANDFALL_TIER: {TIER!r} is no tier\nhint: LANDFALL_TIER=gate or LANDFALL_TIER=full")
FULL = TIER == "full"

# Reason that results show for each test that is skipped in the gate.
REASON = "tier full"

# Marks a test, or a class of tests, that runs in the tier `full` only.
full_only = unittest.skipUnless(FULL, REASON)


def choose(gate, full):
    """Returns how many repetitions, examples or instances a test has in this tier."""
    return full if FULL else gate
