"""What a client says for each mechanism, by the vectors of the RFCs and against our own servers."""

from __future__ import annotations

import base64
import json
from contextlib import suppress

import pytest

from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.broker.security.mechanism import CredentialsRefused
from touchstone.reference_impl.broker.security.oauthbearer import OAuthBearer as BearerServer
from touchstone.reference_impl.broker.security.plain import Plain as PlainServer
from touchstone.reference_impl.broker.security.scram import Account
from touchstone.reference_impl.broker.security.scram import Scram as ScramServer
from touchstone.reference_impl.broker.security.unsecured_tokens import TokenRules
from touchstone.reference_impl.client.security.mechanisms import (
    BadChallenge,
    OAuthBearer,
    Plain,
    Scram,
)
from touchstone.reference_impl.client.security.unsecured_tokens import UnsecuredLogin
from touchstone.reference_impl.cluster.scram_keys import of_password
from touchstone.reference_impl.security.scram import (
    client_key,
    salted,
    signature,
    stored_key,
    veiled,
)

NOW = 1_700_000_000_000


def test_scram_by_the_vector_of_rfc_7677():
    client = Scram("SCRAM-SHA-256", "user", "pencil", {}, lambda: "rOprNGfwEbeRWgbNEkqO")
    assert client.first(NOW) == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    challenge = (
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    )
    # The vector's header is "n,," as ours is: channel binding "biws".
    assert client.answer(challenge) == (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
        b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    assert client.answer(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=") is None


def test_a_server_that_does_not_know_the_password_is_not_believed():
    client = Scram("SCRAM-SHA-256", "user", "pencil", {}, lambda: "n")
    client.answer(b"r=nx,s=AAAA,i=4096")
    with pytest.raises(BadChallenge, match="Invalid server signature in server final message"):
        client.answer(b"v=" + base64.b64encode(bytes(32)))


class Accounts:
    def __init__(self, mechanism):
        self._account = Account("a=b,c", of_password(mechanism, "pass, word="))

    def user(self, name):
        return self._account if name == "a=b,c" else None

    def token(self, token_id):
        return self._account if token_id == "a=b,c" else None


def finished(server, client):
    said = client.first(NOW)
    while said is not None:
        said = client.answer(server.evaluate(said, NOW))
    return server.user


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("extensions", [{}, {"tokenauth": "true"}])
def test_both_sides_of_scram_agree(mechanism, extensions):
    server = ScramServer(
        mechanism,
        Accounts(mechanism),
        repeats_nonce="whole",
        hears_extensions=True,
        token_sessions_end=True,
    )
    assert finished(server, Scram(mechanism, "a=b,c", "pass, word=", extensions)) == "a=b,c"
    assert server.by_token == bool(extensions)


def final_message(answer: bytes, nonce: str, first: str) -> bytes:
    """The last message of a client that knows the password and says this nonce."""
    kind = "SCRAM-SHA-256"
    told = dict(part.split("=", 1) for part in answer.decode().split(","))
    password, salt = b"pass, word=", base64.b64decode(told["s"])
    key = client_key(kind, salted(kind, password, salt, int(told["i"])))
    said = f"c=biws,r={nonce}"
    proof = signature(kind, stored_key(kind, key), f"{first},{answer.decode()},{said}".encode())
    return f"{said},p={base64.b64encode(veiled(proof, key)).decode()}".encode()


@pytest.mark.parametrize(
    ("release", "taken"),
    [("2.8", {"", "x", "other"}), ("3.9", {"", "x"}), ("4.3", {""})],
)
def test_a_final_message_repeats_the_nonces_as_its_release_wants(release, taken):
    """What stands before both nonces; "other" is a nonce without the server's."""
    found = set()
    for before in ("", "x", "other"):
        server = ScramServer(
            "SCRAM-SHA-256", Accounts("SCRAM-SHA-256"), hears_extensions=True,
            repeats_nonce=persona(release).quirk("sasl.scram-nonce-is-repeated"),
            token_sessions_end=True, nonce=lambda: "server",
        )  # fmt: skip
        first = "n=a=3Db=2Cc,r=client"
        answer = server.evaluate(f"n,,{first}".encode(), NOW)
        nonce = before if before == "other" else f"{before}clientserver"
        with suppress(CredentialsRefused):
            server.evaluate(final_message(answer, nonce, first), NOW)
            found.add(before)
    assert found == taken


def test_both_sides_of_plain_agree():
    server = PlainServer({"alice": "secret"}, says_what_is_missing=True)
    assert finished(server, Plain("alice", "secret")) == "alice"


def test_both_sides_of_bearer_tokens_agree():
    login = UnsecuredLogin(
        {
            "unsecuredLoginStringClaim_sub": "alice",
            "unsecuredLoginListClaim_scope": "|books|more",
            "unsecuredLoginNumberClaim_size": "2",
            "unsecuredLoginExtension_traceId": "123",
        }
    )
    server = BearerServer(TokenRules(required=("books", "more")), base64=True)
    assert finished(server, OAuthBearer(login.token, login.extensions)) == "alice"
    assert server.expires == NOW + 3_600_000


def test_a_client_hears_why_its_token_is_refused():
    login = UnsecuredLogin({"unsecuredLoginStringClaim_sub": "alice"})
    server = BearerServer(TokenRules(required=("books",)), base64=True)
    with pytest.raises(CredentialsRefused, match="insufficient_scope"):
        finished(server, OAuthBearer(login.token, {}))


def test_a_token_says_what_its_options_say():
    options = {"unsecuredLoginStringClaim_sub": "a", "unsecuredLoginLifetimeSeconds": "60"}
    head, claims, signature = UnsecuredLogin(options).token(NOW).split(".")
    read = [json.loads(base64.urlsafe_b64decode(part + "==")) for part in (head, claims)]
    assert read == [{"alg": "none"}, {"exp": NOW / 1000 + 60, "iat": NOW / 1000, "sub": "a"}]
    assert signature == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Extensions provided in login context without a token"),
        (
            {"unsecuredLoginExtension_a": "1"},
            "Extensions provided in login context without a token",
        ),
        ({"unsecuredLoginStringClaim_exp": "1"}, "Cannot explicitly set the 'exp' claim"),
        ({"unsecuredLoginStringClaim_name": "a"}, "No principal name in JWT claim: sub"),
        (
            {"unsecuredLoginStringClaim_sub": "a", "unsecuredLoginExtension_auth": "1"},
            "Extension name auth is invalid",
        ),
        (
            {"unsecuredLoginStringClaim_sub": "a", "unsecuredLoginLifetimeSeconds": "x"},
            'For input string: "x"',
        ),
    ],
)
def test_options_that_make_no_token(options, words):
    with pytest.raises(ValueError, match=words):
        UnsecuredLogin(options)
