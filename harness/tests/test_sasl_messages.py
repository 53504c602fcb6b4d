"""SCRAM's messages are those of the standards, and what is made of damaged ones proves nothing."""

from __future__ import annotations

from base64 import b64decode

from touchstone.harness.judgement.compare import compare
from touchstone.harness.model import sasl_messages
from touchstone.harness.model.expect import answer, from_json, to_json
from touchstone.harness.model.placeholders import Bearer, Bindings, Name, Ref, Scram
from touchstone.harness.tests.sasl_conversations import SALTS
from touchstone.reference_impl.broker.security.oauthbearer import OAuthBearer
from touchstone.reference_impl.broker.security.scram import Account
from touchstone.reference_impl.broker.security.scram import Scram as Server
from touchstone.reference_impl.broker.security.unsecured_tokens import TokenRules
from touchstone.reference_impl.cluster.scram_keys import of_password

MECHANISM, USER, PASSWORD = "SCRAM-SHA-256", "user", "pencil"


class Accounts:
    def user(self, name):
        return Account(USER, of_password(MECHANISM, PASSWORD)) if name == USER else None

    def token(self, token_id):
        return None


def server():
    return Server(
        MECHANISM, Accounts(), repeats_nonce="whole", hears_extensions=True, token_sessions_end=True
    )


def test_a_server_that_knows_the_password_is_convinced_and_convinces():
    one = server()
    challenge = one.evaluate(sasl_messages.scram("first", MECHANISM, USER), 0)
    how = {"mechanism": MECHANISM, "user": USER, "password": PASSWORD, "server": challenge}
    told = one.evaluate(sasl_messages.scram("final", **how), 0)
    assert one.user == USER
    assert told == sasl_messages.scram("proven", **how)
    assert told != sasl_messages.scram("proven", **how | {"password": "other"})


def test_the_example_of_rfc_7677():
    """Its nonces and header, its password, its proof and signature."""
    salt = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    salted = sasl_messages.salted_password(MECHANISM, PASSWORD, salt, 4096)
    assert salted.hex() == "c4a49510323ab4f952cac1fa99441939e78ea74d6be81ddf7096e87513dc615d"


def test_what_cannot_be_read_proves_nothing():
    for said in (b"", b"e=no", b"r=x,s=,i=-1", b"\xff"):
        assert sasl_messages.scram("final", MECHANISM, USER, PASSWORD, said).startswith(b"c=biws")


def test_a_bearer_token_is_read_by_a_server():
    one = OAuthBearer(TokenRules(), base64=True)
    assert one.evaluate(sasl_messages.bearer({"sub": "u", "exp": 9}, {"alg": "none"}), 0) == b""
    assert (one.user, one.expires) == ("u", 9000)


def test_messages_are_made_of_what_a_run_knows():
    bindings = Bindings("nonce", 5000, answer=lambda step: {"auth_bytes": b"r=x,s=eA==,i=1"})
    user = Name("user")
    first = bindings.resolve(Scram("first", MECHANISM, user))
    assert first == b"n,,n=%b,r=%b" % (
        bindings.names["user"].encode(), sasl_messages.CLIENT_NONCE.encode()
    )  # fmt: skip
    final = Scram("final", MECHANISM, user, PASSWORD, Ref("challenge", "auth_bytes"), nonce="y")
    assert bindings.resolve(final).startswith(b"c=biws,r=y,p=")
    lasting = bindings.resolve(Bearer({"sub": user}, expires_in_s=2))
    one = OAuthBearer(TokenRules(), base64=True)
    one.evaluate(lasting, 5000)
    assert one.expires == 7000


def test_an_expectation_of_a_signature_survives_json():
    proven = Scram("proven", MECHANISM, Name("user"), PASSWORD, Ref("challenge", "auth_bytes"))
    expected = answer("proof", "auth_bytes").is_(proven)
    assert from_json(to_json(expected)) == expected


def test_the_salt_of_a_token_is_drawn():
    assert compare(*SALTS) == []
