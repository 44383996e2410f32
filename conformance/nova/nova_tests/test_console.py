"""Consoles, by the code of nova-novncproxy: from the token that the API gives out to the screen of a partition."""

import contextlib
import inspect
import types
import urllib.parse
from unittest import mock

from nova import exception
from nova.console import websocketproxy
from oslo_utils import importutils

from nova_tests.base import PowerVMTest


class Handler(websocketproxy.NovaProxyRequestHandler):
    """Nova's handler of a viewer whose WebSocket is open, up to where bytes are passed on. What the partition says first is kept."""

    def __init__(self, path, origin):
        # Not that of websockify, which would read all this from a socket.
        self._compute_rpcapi = None
        self.path = path
        self.headers = {"Host": "127.0.0.1:6080", "Origin": origin}
        self.server = types.SimpleNamespace(security_proxy=None)
        self.screen = None

    def msg(self, *arguments, **options):
        pass

    vmsg = msg

    def do_proxy(self, target):
        with target, target.makefile("rb") as stream:
            self.screen = stream.readline()


def one_process():
    """The proxy is a process of its own for each viewer, and begins with a hub of its own. Here others need theirs."""
    eventlet = importutils.try_import("eventlet")
    return mock.patch("eventlet.hubs.use_hub") if eventlet is not None else contextlib.nullcontext()


# Older releases mix up text and bytes when they ask for one of several consoles that share a port.
CAN_ASK = 'end_token = b"' in inspect.getsource(websocketproxy)


class ProxyTest(PowerVMTest):
    port_per_instance = True

    def setUp(self):
        super().setUp()
        self.flags(enabled=True, server_listen="127.0.0.1", server_proxyclient_address="127.0.0.1", group="vnc")
        self.flags(vnc_port_per_instance=self.port_per_instance, group="powervm")
        self.made = self.create(name="console")

    def token(self, made):
        """What the API lets a viewer in with."""
        asked = {"remote_console": {"protocol": "vnc", "type": "novnc"}}
        url = self.api.api_post(f"/servers/{made['id']}/remote-consoles", asked).body["remote_console"]["url"]
        path = urllib.parse.parse_qs(urllib.parse.urlparse(url).query)["path"][0]
        return urllib.parse.parse_qs(path.lstrip("?"))["token"][0]

    def view(self, token, origin="http://127.0.0.1:6080"):
        handler = Handler(f"/websockify?token={token}", origin)
        with one_process():
            handler.new_websocket_client()
        return handler.screen

    def test_a_viewer_sees_the_screen(self):
        other = self.create(name="other")
        for made in (self.made, other, self.made):
            self.assertEqual(b"RFB 003.008\n", self.view(self.token(made)))
        for made in (self.made, other):
            self.delete(made)
        self.assert_nothing_left()

    def test_others_do_not(self):
        token = self.token(self.made)
        self.assertRaises(exception.InvalidToken, self.view, token[::-1])
        self.assertRaises(exception.ValidationError, self.view, token, origin="http://elsewhere.example.com")
        self.delete(self.made)
        self.assertRaises(exception.InvalidToken, self.view, token)
        self.assert_nothing_left()


class SharedPortProxyTest(ProxyTest):
    """All consoles at one port."""

    port_per_instance = False

    def setUp(self):
        if not CAN_ASK:
            self.skipTest("the proxy of this release cannot")
        super().setUp()
