"""Servers that say that they are well; of the cluster or not, as their certificates show."""

import contextlib
import http.server
import ssl
import subprocess
import sys
import threading


class Well(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that leaves in the middle of a handshake is none of ours."""


@contextlib.contextmanager
def stranger(directory, address, port, name):
    """Serves at an address for as long as the block runs; its certificate is for a name, and signed by nobody."""
    certificate, key = directory / "stranger.pem", directory / "stranger.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    with serving(address, port, certificate, key):
        yield


@contextlib.contextmanager
def serving(address, port, certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = Server((address, port), Well)
    # Hands are shaken by the thread of a connection: whoever connects and says nothing does not stop the others.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    address, port, certificate, key = sys.argv[1:]
    with serving(address, int(port), certificate, key):
        threading.Event().wait()
