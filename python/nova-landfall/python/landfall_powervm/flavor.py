"""Flavors, as shapes of partitions. The extra specs are those of the driver that Nova had until release 25."""

from nova import exception
from oslo_log import log as logging
from oslo_utils import strutils

LOG = logging.getLogger(__name__)

PREFIX = "powervm:"

KNOWN = {
    "min_mem", "max_mem", "min_vcpu", "max_vcpu", "proc_units", "min_proc_units", "max_proc_units", "dedicated_proc",
    "shared_weight", "availability_priority", "uncapped", "dedicated_sharing_mode", "processor_compatibility",
    "shared_proc_pool_name", "srr_capability",
}

SHARING = {
    "share_idle_procs": "when-off",
    "keep_idle_procs": "keep",
    "share_idle_procs_active": "when-on",
    "share_idle_procs_always": "always",
}

DEFAULT_POOL = "DefaultPool"
DEFAULT_WEIGHT = 64


def shape(flavor, proc_units_factor, find_pool):
    """The shape of a partition. `find_pool` tells the number of a shared processor pool."""
    specs = _specs(flavor)
    memory = _range(specs, "mem", flavor.memory_mb, int)
    return {
        "memory": {f"{bound}_mib": size for bound, size in memory.items()},
        "processors": _processors(flavor, specs, proc_units_factor, find_pool),
        "compatibility_mode": _mode(specs),
        "availability_priority": _number(specs, "availability_priority", int, 0, 255),
        "remote_restart": _boolean(specs, "srr_capability", None),
    }


def _specs(flavor):
    specs = {}
    for key, value in (flavor.extra_specs or {}).items():
        if not key.startswith(PREFIX):
            continue
        name = key[len(PREFIX):]
        if name in KNOWN:
            specs[name] = value
        else:
            LOG.warning("Flavor %(flavor)s has an extra spec that nobody knows: %(key)s", {"flavor": flavor.name, "key": key})
    return specs


def _processors(flavor, specs, factor, find_pool):
    count = _range(specs, "vcpu", flavor.vcpus, int)
    if _boolean(specs, "dedicated_proc", False):
        word = specs.get("dedicated_sharing_mode", "share_idle_procs")
        if word not in SHARING:
            raise _wrong("dedicated_sharing_mode", word)
        return {"kind": "dedicated", "processors": count, "sharing": SHARING[word]}
    wanted = specs.get("proc_units")
    units = _range(specs, "proc_units", _units(flavor.vcpus * factor) if wanted is None else _float("proc_units", wanted), float)
    pool = specs.get("shared_proc_pool_name", DEFAULT_POOL)
    weight = _number(specs, "shared_weight", int, 0, 255)
    return {
        "kind": "shared",
        "virtual_processors": count,
        "units": units,
        "uncapped_weight": (DEFAULT_WEIGHT if weight is None else weight) if _boolean(specs, "uncapped", True) else None,
        "pool": 0 if pool == DEFAULT_POOL else find_pool(pool),
    }


def _range(specs, name, wanted, kind):
    """Least, wanted, most. Bounds that are not given are what is wanted."""
    bounds = {"minimum": specs.get(f"min_{name}", wanted), "desired": wanted, "maximum": specs.get(f"max_{name}", wanted)}
    try:
        bounds = {bound: kind(value) for bound, value in bounds.items()}
    except ValueError:
        raise _wrong(name, bounds) from None
    if not bounds["minimum"] <= bounds["desired"] <= bounds["maximum"]:
        raise _wrong(name, bounds)
    return bounds


def _units(number):
    """The server counts in hundredths."""
    return round(number, 2)


def _mode(specs):
    mode = specs.get("processor_compatibility")
    return None if mode is None else mode.replace("+", "_Plus")


def _boolean(specs, name, default):
    if name not in specs:
        return default
    try:
        return strutils.bool_from_string(specs[name], strict=True)
    except ValueError:
        raise _wrong(name, specs[name]) from None


def _float(name, text):
    try:
        return float(text)
    except ValueError:
        raise _wrong(name, text) from None


def _number(specs, name, kind, least, most):
    if name not in specs:
        return None
    try:
        number = kind(specs[name])
    except ValueError:
        raise _wrong(name, specs[name]) from None
    if not least <= number <= most:
        raise _wrong(name, specs[name])
    return number


def _wrong(name, value):
    # One of the few that Nova does not try another host for: the flavor would be the same there.
    return exception.InvalidInput(reason=f"the flavor's extra spec {PREFIX}{name} cannot be {value!r}")
