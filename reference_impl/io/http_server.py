"""What doors over HTTP beside a broker have in common: few peers at once, and no pages.

A browser on this machine reaches loopback on behalf of any page, and a page's own name may be made
to resolve to it. A door can tell, because such a request names that name as its `Host`.
"""

from __future__ import annotations

import ipaddress
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

MOST_PEERS = 32
NOTICE_S = 0.02  # until the end is noticed; the default of half a second is felt at every close


class HttpServer(ThreadingHTTPServer):
    """A thread for each peer, and no more peers than places: those beyond are closed unheard."""

    daemon_threads = True
    request_queue_size = MOST_PEERS

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._places = threading.BoundedSemaphore(MOST_PEERS)
        super().__init__(address, handler)

    def begin(self, name: str) -> threading.Thread:
        """Serve in a thread of this name, until `end` is given it."""
        thread = threading.Thread(
            target=self.serve_forever, args=(NOTICE_S,), name=name, daemon=True
        )
        thread.start()
        return thread

    def end(self, thread: threading.Thread) -> None:
        self.shutdown()
        thread.join()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread was to be had
            self._places.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()


def names_door(said: str, host: str) -> bool:
    """Whether a `Host` header is localhost, an address, or `host`: DNS cannot turn those."""
    try:
        named = urlsplit(f"//{said}").hostname or ""
    except ValueError:
        return False
    if named in ("localhost", host.lower()):
        return True
    try:
        ipaddress.ip_address(named)
    except ValueError:
        return False
    return True
