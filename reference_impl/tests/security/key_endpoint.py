"""A server of keys over HTTP, whose answers a test decides."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext

from touchstone.reference_impl.tests.io.test_serving import PATIENCE_S


class Endpoint:
    """Serves a JWKS over HTTP until it is closed; `asked` counts, `gate` lets nobody wait."""

    def __init__(self, text: str, tls: SSLContext | None = None) -> None:
        self.text, self.status, self.asked = text, 200, threading.Semaphore(0)
        self.count, self.gate = 0, threading.Event()
        self.gate.set()
        handler = type("Handler", (_Handler,), {"endpoint": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        scheme = "http" if tls is None else "https"
        self.url = f"{scheme}://localhost:{self.server.server_address[1]}/keys"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self._thread.start()

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(self, *_: object) -> None:
        self.gate.set()
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()


class _Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint

    def do_GET(self) -> None:
        one = self.endpoint
        one.count += 1
        one.asked.release()
        assert one.gate.wait(PATIENCE_S)
        body = one.text.encode()
        self.send_response(one.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Write nothing."""
