"""Signed tokens of a file or a server, as Kafka's client gets them (KIP-768, KIP-1139)."""

from __future__ import annotations

import base64
import http.server
import json
import threading
import time
from collections.abc import Iterator

import pytest

from touchstone.reference_impl.client.configs.connection_config import connection_config
from touchstone.reference_impl.client.configs.parsing import ConfigException
from touchstone.reference_impl.client.security.errors import SaslAuthenticationException
from touchstone.reference_impl.client.security.security_settings import SecuritySettings
from touchstone.reference_impl.client.security.token_settings import (
    HANDLER,
    HANDLERS,
    RETRIEVER,
    RETRIEVERS,
    URL,
)
from touchstone.reference_impl.io.bearer_tokens import BearerTokens
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.security import signed_conversations as signing
from touchstone.reference_impl.tests.security.signed_tokens import CLAIMS, PAST, jwks, signed

MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
ID = {"client_id": "touch", "secret": "st+one/"}
BY_OPTIONS = f'{MODULE} clientId="touch" clientSecret="st+one/" scope="a b" extension_x="y";'
BY_SETTINGS = {
    "sasl.oauthbearer.client.credentials.client.id": "touch",
    "sasl.oauthbearer.client.credentials.client.secret": "st+one/",
    "sasl.oauthbearer.scope": "a b",
}


def tokens(module: str = f"{MODULE};", **settings: str) -> BearerTokens:
    given = {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": module, **settings,
    }  # fmt: skip
    sasl = SecuritySettings.of(connection_config(given)).sasl
    assert sasl is not None
    assert sasl.tokens is not None
    return BearerTokens(sasl.tokens, None)


def now() -> int:
    return int(time.time() * 1000)


def token(**claims: object) -> str:
    return ".".join(
        base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=")
        for each in ({"alg": "none"}, {"sub": "alice", "exp": 4e9, **claims}, "")
    )


@pytest.fixture
def server() -> Iterator[http.server.HTTPServer]:
    """An authorization server: `asked` is what it was asked, `answers` what it says, in turn."""

    class Door(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.server.asked.append((self.headers["Authorization"], form))
            code, body = self.server.answers.pop(0)
            self.send_response(code)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Door) as found:
        found.asked, found.answers = [], []
        thread = threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def url(server: http.server.HTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}/token"


@pytest.mark.parametrize(
    ("module", "settings"),
    [
        (BY_OPTIONS, {HANDLER: HANDLERS[0]}),
        (BY_OPTIONS, {HANDLER: HANDLERS[1]}),
        (f"{MODULE};", BY_SETTINGS),
        (f"{MODULE};", {**BY_SETTINGS, RETRIEVER: RETRIEVERS[2]}),
    ],
)
def test_a_server_gives_a_token_for_client_credentials(server, module, settings):
    server.answers.append((200, json.dumps({"access_token": token()})))
    source = tokens(module, **{URL: url(server)}, **settings)
    assert source.token(now()) == source.token(now()) == token()  # it is asked once
    basic = base64.b64encode(b"touch:st+one/").decode()
    assert server.asked == [(f"Basic {basic}", "grant_type=client_credentials&scope=a+b")]


def test_names_are_encoded_where_that_is_asked(server):
    server.answers.append((200, json.dumps({"access_token": token()})))
    encodes = {"sasl.oauthbearer.header.urlencode": "true"}
    tokens(**{URL: url(server)}, **BY_SETTINGS, **encodes).token(now())
    assert server.asked[0][0] == f"Basic {base64.b64encode(b'touch:st%2Bone%2F').decode()}"


def test_a_token_is_asked_for_again_when_four_fifths_of_its_time_have_passed(server):
    first, second = token(exp=1000), token(exp=2000)
    server.answers += [(200, json.dumps({"access_token": each})) for each in (first, second)]
    source = tokens(**{URL: url(server)}, **BY_SETTINGS)
    found = [source.token(instant) for instant in (0, 799_999, 800_000)]
    assert found == [first, first, second]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, "{}"), "answers 401"),
        ((200, "no JSON"), "Expecting value"),
        ((200, "{}"), "without an access_token"),
        ((200, '{"access_token": "opaque"}'), "no JSON Web Token with an end"),
    ],
)
def test_a_server_that_gives_none_is_quoted(server, answer, words):
    server.answers.append(answer)
    with pytest.raises(SaslAuthenticationException, match=words) as refused:
        tokens(**{URL: url(server)}, **BY_SETTINGS).token(now())
    assert ID["secret"] not in str(refused.value)


@pytest.mark.parametrize("how", [{HANDLER: HANDLERS[0]}, {RETRIEVER: RETRIEVERS[1]}])
def test_a_file_holds_a_token_and_is_read_again_when_it_ends(tmp_path, how):
    path = tmp_path / "a token"
    source = tokens(**{URL: path.as_uri()}, **how)
    with pytest.raises(SaslAuthenticationException, match="No such file"):
        source.token(0)
    for end in (1000, 2000):
        path.write_text(f"{token(exp=end)}\n")
        assert source.token(900_000 if end == 2000 else 0) == token(exp=end)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({HANDLER: "com.example.Mine", URL: "https://a/"}, "com.example.Mine could not be found"),
        ({RETRIEVER: "com.example.Mine", URL: "https://a/"}, "com.example.Mine could not be found"),
        ({HANDLER: HANDLERS[0]}, f"{URL} value must be non-null"),
        ({URL: "https://a/"}, "need a client id and a client secret"),
    ],
)
def test_what_says_only_half_of_it_is_refused(settings, words):
    with pytest.raises(ConfigException, match=words):
        tokens(**settings)


def test_a_broker_believes_a_signed_token_and_refuses_one_that_has_ended(tmp_path):
    (tmp_path / "keys").write_text(jwks("ec-256"))
    path = tmp_path / "token"
    config = {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f"{MODULE};", URL: path.as_uri(),
    }  # fmt: skip
    with serve(config=signing.settings((tmp_path / "keys").as_uri())) as cluster:
        where = cluster.listeners[signing.SASL][0]
        path.write_text(signed(CLAIMS, "ec-256", "ES256"))
        with Client(where, config) as client:
            assert client.admin.list_topics() is not None
        path.write_text(signed(CLAIMS | {"exp": PAST}, "ec-256", "ES256"))
        with (
            Client(where, config) as client,
            pytest.raises(SaslAuthenticationException, match="invalid_token"),
        ):
            client.admin.list_topics()
