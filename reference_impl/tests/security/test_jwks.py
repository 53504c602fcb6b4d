"""Where the keys of a listener come from: files and endpoints, also while they change."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ssl import PROTOCOL_TLS_SERVER, SSLContext

import pytest
import trustme

from touchstone.reference_impl.io import jwks as reading
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.io.test_serving import PATIENCE_S, Peer
from touchstone.reference_impl.tests.security import bearer_conversations
from touchstone.reference_impl.tests.security.bearer_conversations import first
from touchstone.reference_impl.tests.security.conversations import PLAINTEXT, SASL
from touchstone.reference_impl.tests.security.key_endpoint import Endpoint
from touchstone.reference_impl.tests.security.signed_conversations import (
    ALLOWED,
    HANDLER,
    JAAS,
    MECHANISM,
)
from touchstone.reference_impl.tests.security.signed_tokens import jwks, signed, without

METADATA, HANDSHAKE, AUTHENTICATE = 3, 17, 36
URL = "sasl.oauthbearer.jwks.endpoint.url"
CLASS = f"listener.name.{SASL.lower()}.oauthbearer.sasl.server.callback.handler.class"
LOGIN = f"listener.name.{SASL.lower()}.oauthbearer.sasl.jaas.config"


def settings(url: str, **more: str) -> dict[str, str]:
    return {
        "listeners": f"{PLAINTEXT}://127.0.0.1:0,{SASL}://127.0.0.1:0",
        "sasl.enabled.mechanisms": MECHANISM,
        LOGIN: JAAS,
        CLASS: HANDLER,
        URL: url,
        ALLOWED: f"https://elsewhere.test/keys, {url}",
        **more,
    }


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    """Tests that read twice at once mean it."""
    monkeypatch.setattr(reading, "_JUST_READ_S", 0.0)
    monkeypatch.setattr(reading, "_FIRST_WAIT_S", 0.0)


@contextmanager
def at(cluster, listener: str = SASL) -> Iterator[Peer]:
    with Peer(cluster.listeners[listener][0]) as peer:
        yield peer


def lets_in(cluster, token: str) -> bool:
    with at(cluster) as peer:
        peer.ask(HANDSHAKE, 1, {"mechanism": MECHANISM})
        answer = peer.ask(AUTHENTICATE, 2, {"auth_bytes": first(token)})
    assert answer["error_code"] == 0
    return not answer["auth_bytes"]


def until_it_lets_in(cluster, token: str) -> None:
    """Each try is a connection; the keys are on their way."""
    for _ in range(10_000):
        if lets_in(cluster, token):
            return
    raise AssertionError("the key never came")


def token(kid: str = "rsa", **more: object) -> str:
    return signed(without("aud"), kid=kid, **more)


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("release", "again"), [("3.9", False), ("4.3", True)])
def test_a_file_that_changed_is_read_again_from_4_1_on(tmp_path, release, again):
    file = tmp_path / "the keys.json"
    file.write_text(jwks("rsa"))
    url = file.as_uri()
    with serve(release=release, config=settings(url)) as cluster:
        assert lets_in(cluster, token())
        assert not lets_in(cluster, token("rsa-2"))
        file.write_text(jwks("rsa-2"))
        os.utime(file, (1, 1))
        assert lets_in(cluster, token("rsa-2")) is again
        assert lets_in(cluster, token()) is not again
        file.unlink()
        assert lets_in(cluster, token()) is not again
        assert not lets_in(cluster, token("rsa-2"))  # 4.3 finds no keys, 3.9 never knew this one


def test_brokers_of_one_process_take_the_same_tokens(tmp_path):
    file = tmp_path / "keys"
    file.write_text(jwks("rsa"))
    with serve(brokers=2, config=settings(f"file:{file}")) as cluster:
        for address in cluster.listeners[SASL]:
            with Peer(address) as peer:
                peer.ask(HANDSHAKE, 1, {"mechanism": MECHANISM})
                answer = peer.ask(AUTHENTICATE, 2, {"auth_bytes": first(token())})
            assert answer["auth_bytes"] == b"" and answer["session_lifetime_ms"] > 0


# --- endpoints ----------------------------------------------------------------------------------


def test_an_unknown_key_has_the_endpoint_read_once():
    with Endpoint(jwks("rsa")) as endpoint, serve(config=settings(endpoint.url)) as cluster:
        assert lets_in(cluster, token()) and endpoint.count == 1
        endpoint.text = jwks("rsa", "rsa-2")
        assert not lets_in(cluster, token("rsa-2"))
        until_it_lets_in(cluster, token("rsa-2"))
        assert endpoint.count == 2


def test_nobody_waits_for_an_endpoint():
    """While a reading is under way, others are served; so is a token whose key is known."""
    with Endpoint(jwks("rsa")) as endpoint, serve(config=settings(endpoint.url)) as cluster:
        assert endpoint.asked.acquire(timeout=PATIENCE_S)
        endpoint.gate.clear()
        endpoint.text = jwks("rsa-2")
        assert not lets_in(cluster, token("rsa-2"))
        assert endpoint.asked.acquire(timeout=PATIENCE_S)
        with at(cluster, PLAINTEXT) as peer:
            assert peer.ask(METADATA, 1, {"topics": []})["brokers"]
        assert lets_in(cluster, token())
        endpoint.gate.set()
        until_it_lets_in(cluster, token("rsa-2"))
        assert not lets_in(cluster, token())


def test_an_endpoint_that_fails_leaves_the_keys_as_they_were():
    more = {"sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": "0"}
    with Endpoint(jwks("rsa")) as endpoint, serve(config=settings(endpoint.url, **more)) as cluster:
        endpoint.text, endpoint.status = "", 503
        assert not lets_in(cluster, token("rsa-2"))
        for _ in range(1 + reading._TRIES):
            assert endpoint.asked.acquire(timeout=PATIENCE_S)
        assert lets_in(cluster, token())


def test_the_endpoint_is_read_again_after_a_while():
    more = {"sasl.oauthbearer.jwks.endpoint.refresh.ms": "1"}
    with Endpoint(jwks("rsa")) as endpoint, serve(config=settings(endpoint.url, **more)) as cluster:
        endpoint.text = jwks("ec-256")
        for _ in range(3):
            assert endpoint.asked.acquire(timeout=PATIENCE_S)
        until_it_lets_in(cluster, token("ec-256", alg="ES256"))


def test_a_broker_starts_again_without_its_endpoint():
    with Endpoint(jwks("rsa")) as endpoint, serve(config=settings(endpoint.url)) as cluster:
        (broker,) = cluster.brokers
        cluster.stop_broker(broker.id)
        endpoint.status = 404
        cluster.start_broker(broker.id)
        assert lets_in(cluster, token())


def test_a_thread_of_a_listener_ends_with_its_cluster():
    with Endpoint(jwks("rsa")) as endpoint:
        with serve(config=settings(endpoint.url)):
            threads = [one for one in threading.enumerate() if one.name == "touchstone-jwks"]
        for one in threads:
            one.join(PATIENCE_S)
        assert threads and not any(one.is_alive() for one in threads)


def test_an_endpoint_with_tls_is_believed_by_the_login_module_s_certificates(tmp_path):
    authority, context = trustme.CA(), SSLContext(PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(authority.cert_pem.bytes())
    options = f' ssl.truststore.type="PEM" ssl.truststore.location="{trusted}";'
    with Endpoint(jwks("rsa"), context) as endpoint:
        with pytest.raises(ValueError, match="cannot be read: .*certificate verify failed"):
            serve(config=settings(endpoint.url))
        config = settings(endpoint.url) | {LOGIN: JAAS.replace(";", options)}
        with serve(config=config) as cluster:
            assert lets_in(cluster, token())


# --- refusals -----------------------------------------------------------------------------------

SECURED = "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerValidatorCallbackHandler"
REFUSED = {
    "no endpoint": ("4.3", {URL: ""}, f"The OAuth configuration option {URL} value is required"),
    "no protocol": ("3.9", {URL: "keys"}, "contains a URL (keys) that is malformed: no protocol"),
    "another protocol": ("3.9", {URL: "ftp://x/y"}, "an invalid protocol (ftp)"),
    "no file": ("3.9", {URL: "file:/no/such/file"}, "contains a file (/no/such/file) that doesn't"),
    "a directory": ("3.9", {URL: "file:/"}, "references a directory (/), not a file"),
    "nobody there": ("3.9", {URL: "http://127.0.0.1:1/keys"}, "cannot be read: "),
    "not listed": ("4.3", {ALLOWED: "http://x"}, "cannot be accessed due to restrictions"),
    "no list": ("4.3", {ALLOWED: None}, "cannot be accessed due to restrictions"),
    "a list, on 3.9": ("3.9", {ALLOWED: "http://x"}, "cannot be accessed due to restrictions"),
    "a class that has gone": ("4.3", {CLASS: SECURED}, f"Class {SECURED} could not be found."),
    "a class to come": ("2.8", {}, f"Class {HANDLER} could not be found."),
    "a class of yours": ("4.3", {CLASS: "org.example.Mine"}, "is not obeyed, so it is refused"),
    "for another mechanism": (
        "4.3",
        {"sasl.enabled.mechanisms": "PLAIN", CLASS.replace("oauthbearer", "plain", 1): HANDLER},
        "is not obeyed, so it is refused",
    ),
    "for every listener": (
        "4.3",
        {CLASS: None, "oauthbearer.sasl.server.callback.handler.class": HANDLER},
        "is not obeyed, so it is refused",
    ),
    "a validator": ("4.3", {"sasl.oauthbearer.jwt.validator.class": "a.B"}, "is not obeyed"),
    "no number": ("3.9", {"sasl.oauthbearer.clock.skew.seconds": "x"}, "Not a number of type INT"),
    "no refresh": (
        "3.9",
        {URL: "http://x", "sasl.oauthbearer.jwks.endpoint.refresh.ms": "0"},
        "value must be positive",
    ),
    "no name of a claim": (
        "4.3", {"sasl.oauthbearer.sub.claim.name": " "}, "sub.claim.name value is required",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_obeyed_is_refused_before_anything_listens(name, tmp_path):
    release, changes, words = REFUSED[name]
    file = tmp_path / "keys"
    file.write_text(jwks("rsa"))
    url = changes.get(URL, f"file:{file}")
    config = settings(url, **{ALLOWED: None} if release != "4.3" else {}) | changes
    config = {key: value for key, value in config.items() if value is not None}
    with pytest.raises(ValueError) as refused:
        serve(release=release, config=config)
    assert words in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"keys": 1}', '{"keys": [], "keys": []}'])
def test_what_is_no_key_set_is_refused(text, tmp_path):
    file = tmp_path / "keys"
    file.write_text(text)
    with pytest.raises(ValueError, match=f"^{URL}: .*keys holds no JWKS: "):
        serve(config=settings(f"file:{file}"))


def test_without_its_library_one_line_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "jwt", None)
    monkeypatch.delitem(sys.modules, "touchstone.reference_impl.security.signatures")
    with pytest.raises(ValueError, match=r"needs jwt \(the extra oauthbearer\): pip install "):
        serve(config=settings(f"file:{tmp_path}"))


def test_unsecured_tokens_need_no_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "jwt", None)
    monkeypatch.delitem(sys.modules, "touchstone.reference_impl.security.signatures")
    with serve(config=bearer_conversations.SETTINGS) as cluster:
        assert lets_in(
            cluster,
            bearer_conversations.token(
                {"sub": "a", "exp": 4_000_000_000, "scope": ["read", "write"]}
            ),
        )
    assert "touchstone.reference_impl.security.signatures" not in sys.modules


def test_3_9_has_the_handler_under_two_names(tmp_path):
    file = tmp_path / "keys"
    file.write_text(jwks("rsa"))
    config = settings(f"file:{file}") | {CLASS: SECURED}
    with serve(release="3.9", config=config) as cluster:
        assert lets_in(cluster, token())
