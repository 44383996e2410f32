"""Consoles, by the code of nova-novncproxy: from the token that the API gives out to the screen of a partition."""

import contextlib
import inspect
import ssl
import struct
import types
import urllib.parse
from unittest import mock

from nova import exception
from nova.console import websocketproxy
from nova.console.securityproxy import rfb
from oslo_utils import importutils

from landfall_powervm.driver import LandfallPowerVMDriver
from nova_tests.authority import Authority
from nova_tests.base import CONF, PowerVMTest


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


class SecureHandler(Handler):
    """The same with Nova's security proxy, and a browser that takes what it offers. What is kept is the name that the screen has."""

    def __init__(self, path, origin):
        super().__init__(path, origin)
        self.server.security_proxy = rfb.RFBSecurityProxy()
        self.browser = [b"RFB 003.008\n", b"\x01"]

    def recv_frames(self):
        return [self.browser.pop(0)], False

    def send_frames(self, frames):
        pass

    def send_close(self):
        pass

    def do_proxy(self, target):
        assert isinstance(target, ssl.SSLSocket), target
        with target, target.makefile("rwb", buffering=0) as stream:
            result = _exactly(stream, 4)
            assert result == bytes(4), result
            stream.write(b"\x01")
            length, = struct.unpack(">20xI", _exactly(stream, 24))
            self.screen = _exactly(stream, length)


def _exactly(stream, count):
    read = b""
    while len(read) < count:
        more = stream.read(count - len(read))
        if not more:
            raise ConnectionError("the console ends")
        read += more
    return read


def one_process():
    """The proxy is a process of its own for each viewer, and begins with a hub of its own. Here others need theirs."""
    eventlet = importutils.try_import("eventlet")
    return mock.patch("eventlet.hubs.use_hub") if eventlet is not None else contextlib.nullcontext()


# Older releases mix up text and bytes when they ask for one of several consoles that share a port.
CAN_ASK = 'end_token = b"' in inspect.getsource(websocketproxy)


class Proxy(PowerVMTest):
    port_per_instance = True
    handler = Handler

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
        handler = self.handler(f"/websockify?token={token}", origin)
        with one_process():
            handler.new_websocket_client()
        return handler.screen


class ProxyTest(Proxy):
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


class KnownProxyTest(Proxy):
    """Consoles for proxies with an address that is known."""

    proxies = ["192.0.2.7", "127.0.0.1"]

    def _setup_compute_service(self):
        self.flags(vnc_proxies=self.proxies, group="powervm")
        return super()._setup_compute_service()

    def test_its_viewer_sees_the_screen(self):
        self.assertEqual(b"RFB 003.008\n", self.view(self.token(self.made)))


class StrangeProxyTest(KnownProxyTest):
    """The same for those with another."""

    proxies = ["192.0.2.7"]

    def test_its_viewer_sees_the_screen(self):
        self.assertEqual(b"", self.view(self.token(self.made)))


class SecureProxyTest(Proxy):
    """Consoles for proxies with a certificate."""

    handler = SecureHandler

    def _setup_compute_service(self):
        self.ours, self.theirs = (Authority(self.directory / name) for name in ("ours", "theirs"))
        for authority in (self.ours, self.theirs):
            authority.sign("server")
            authority.sign("proxy")
        self.configure(ca_certs=self.ours.file("ca.pem"), server_cert=self.ours.file("server.pem"), server_key=self.ours.file("server.key"))
        self.present(self.ours)
        return super()._setup_compute_service()

    def configure(self, **files):
        self.flags(vnc_use_x509_auth=True, group="powervm")
        self.flags(group="powervm", **{f"vnc_{name}": path for name, path in files.items()})

    def present(self, authority):
        """The proxy trusts one authority, and shows a certificate of this one."""
        self.flags(
            auth_schemes=["vencrypt"], vencrypt_ca_certs=self.ours.file("ca.pem"), vencrypt_client_cert=authority.file("proxy.pem"),
            vencrypt_client_key=authority.file("proxy.key"), group="vnc",
        )

    def test_a_proxy_with_a_certificate(self):
        other = self.create(name="other")
        for made in (self.made, other, self.made):
            self.assertEqual(self.partition(made).findtext("PartitionName").encode(), self.view(self.token(made)))
        for made in (self.made, other):
            self.delete(made)
        self.assert_nothing_left()

    def test_a_proxy_with_the_certificate_of_somebody_else(self):
        token = self.token(self.made)
        self.present(self.theirs)
        # Since TLS 1.3 it may hear of that only when it reads.
        self.assertRaises((exception.SecurityProxyNegotiationFailed, OSError), self.view, token)
        self.flags(auth_schemes=["none"], group="vnc")
        self.assertRaises(exception.SecurityProxyNegotiationFailed, self.view, token)
        self.present(self.ours)
        self.assertEqual(self.partition(self.made).findtext("PartitionName").encode(), self.view(token))

    def test_what_cannot_be_used_is_said_at_the_start(self):
        for name, path in (
            ("ca_certs", str(self.directory / "missing.pem")), ("server_cert", self.ours.file("server.key")),
            ("server_key", self.ours.file("server.pem")),
        ):
            right = getattr(CONF.powervm, f"vnc_{name}")
            self.configure(**{name: path})
            with self.identity("power-a"):
                refusal = self.assertRaises(exception.InvalidConfiguration, LandfallPowerVMDriver(None).init_host, "power-a")
            self.assertIn(path, str(refusal))
            self.configure(**{name: None})
            with self.identity("power-a"):
                refusal = self.assertRaises(exception.InvalidConfiguration, LandfallPowerVMDriver(None).init_host, "power-a")
            self.assertIn(f"needs vnc_{name}", str(refusal))
            self.configure(**{name: right})


class SecureSharedPortProxyTest(SecureProxyTest):
    """The same at one port."""

    port_per_instance = False

    def setUp(self):
        if not CAN_ASK:
            self.skipTest("the proxy of this release cannot")
        super().setUp()
