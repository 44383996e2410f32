"""Where Nova looks for the driver: `compute_driver = landfall_powervm.LandfallPowerVMDriver`."""

from landfall_powervm.driver import LandfallPowerVMDriver

__all__ = ["LandfallPowerVMDriver"]
