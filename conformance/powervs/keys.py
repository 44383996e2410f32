"""An SSH key of the kind that the service takes: RSA with 2048 bits, made here and thrown away."""

import base64
import os
import struct


def _field(data):
    return struct.pack(">I", len(data)) + data


RSA = "ssh-rsa " + base64.b64encode(
    _field(b"ssh-rsa") + _field(b"\x01\x00\x01") + _field(b"\0" + bytes([0x80 | os.urandom(1)[0]]) + os.urandom(255))
).decode() + " conformance"
