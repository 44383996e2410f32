"""Makes Nova find the driver.

Nova looks for drivers below nova.virt only. Where the driver is installed into the same site-packages as Nova, it is there by itself.
Where Nova comes from a distribution, run this once: it puts a package of a few lines beside Nova's own drivers. Up to release 30 it
can as well be put elsewhere (--path), if that directory is on the PYTHONPATH of nova-compute: nova.virt was a namespace then.
"""

import argparse
import importlib.util
import pathlib
import sys

NAME = "landfall_powervm"

DRIVER = "from landfall_powervm.driver import LandfallPowerVMDriver\n\n__all__ = [\"LandfallPowerVMDriver\"]\n"
NAMESPACE = "__import__(\"pkg_resources\").declare_namespace(__name__)\n"


def home():
    """Where Nova's own drivers are."""
    found = importlib.util.find_spec("nova")
    if found is None or not found.origin:
        raise SystemExit("landfall-powervm-shim: there is no Nova for this Python; use the Python that nova-compute runs with")
    return pathlib.Path(found.origin).parent / "virt"


def install(virt):
    package = virt / NAME
    package.mkdir(parents=True, exist_ok=True)
    target = package / "__init__.py"
    target.write_text(DRIVER, encoding="ascii")
    return target


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=pathlib.Path, help="a directory for the PYTHONPATH of nova-compute, up to release 30")
    options = parser.parse_args(arguments)
    virt = home()
    if options.path is not None:
        if "declare_namespace" not in (virt / "__init__.py").read_text(encoding="utf-8"):
            raise SystemExit("landfall-powervm-shim: this Nova finds drivers beside its own only; leave out --path")
        virt = options.path / "nova" / "virt"
        virt.mkdir(parents=True, exist_ok=True)
        for directory in (virt.parent, virt):
            (directory / "__init__.py").write_text(NAMESPACE, encoding="ascii")
    print(install(virt))
    return 0


if __name__ == "__main__":
    sys.exit(main())
