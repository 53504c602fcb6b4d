"""What listens at a wrong port is named: an HTTP server, a port for TLS, else nothing."""

from __future__ import annotations

import contextlib
import http.server
import socket
import ssl
import threading

import pytest

from touchstone.harness.targets import diagnosis, external, parse, probe

SHORT_S = 0.05
LONG_S = 30.0


@contextlib.contextmanager
def serving(answer):
    """A port on which `answer` is called with each connection, in a thread of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, contextlib.suppress(OSError):
                        answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(LONG_S)


@pytest.fixture
def web():
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server.server_address
    server.shutdown()
    thread.join(LONG_S)
    server.server_close()


def handshake(connection):
    """A server without a certificate: it refuses every handshake with an alert."""
    connection.settimeout(LONG_S)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with contextlib.suppress(ssl.SSLError):
        context.wrap_socket(connection, server_side=True)


def test_an_http_server(web):
    assert diagnosis.of(web, LONG_S) == diagnosis.HTTP


def test_a_port_for_tls():
    with serving(handshake) as address:
        assert diagnosis.of(address, LONG_S) == diagnosis.TLS


@pytest.mark.parametrize("words", [b"", b"\x00\x00\x00\x04abcd", b"SSH-2.0-OpenSSH_9.6\r\n"])
def test_something_else_is_not_named(words):
    with serving(lambda connection: connection.sendall(words)) as address:
        assert diagnosis.of(address, LONG_S) is None


def test_what_never_answers_is_not_named_and_costs_two_waits():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert diagnosis.of(silent.getsockname(), SHORT_S) is None


def test_a_target_says_what_it_is_instead(web, monkeypatch):
    monkeypatch.setattr(external, "SECONDS", SHORT_S)
    target = parse("{}:{}".format(*web))
    with pytest.raises(probe.NotReady, match="an HTTP server answers there"):
        target.advertised()
