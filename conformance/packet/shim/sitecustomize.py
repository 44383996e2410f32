"""Points packet-python at the simulator: the address of the service is a constant in it."""

import os

import packet.baseapi

_initialise = packet.baseapi.BaseAPI.__init__


def _pointed(self, *args, **kwargs):
    _initialise(self, *args, **kwargs)
    self.end_point = os.environ["PACKET_SIMULATOR"]


packet.baseapi.BaseAPI.__init__ = _pointed
