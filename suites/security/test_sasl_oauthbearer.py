"""OAUTHBEARER with tokens that nobody has signed, as brokers take them that have no other rule.

A token that is refused is answered with a status, and the byte that the client says to it with
SASL_AUTHENTICATION_FAILED.

Sources: RFC 7628; KIP-255; OAuthBearerSaslServer, OAuthBearerUnsecuredJws,
OAuthBearerUnsecuredValidatorCallbackHandler at 2.2.1 to 4.3.1.
"""

from touchstone.harness.model.claim import claim, every, only
from touchstone.harness.model.expect import all_of, answer, answered, by_release, refused
from touchstone.harness.model.placeholders import Bearer
from touchstone.harness.model.security_settings import OAUTHBEARER
from touchstone.harness.model.steps import metadata
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.security import at_sasl, authenticate, handshake, sasl

BEARERS = "2.2+"
TWO_HOURS_S = 7200
PAST, FUTURE = 1_000_000_000, 4_000_000_000  # seconds since 1970
REFUSED = b'{"status":"invalid_token"}'
WRONG = {
    "expired": Bearer({"sub": "alice", "exp": PAST}),
    "without an end": Bearer({"sub": "alice"}),
    "an end in words": Bearer({"sub": "alice", "exp": "soon"}),
    "of nobody": Bearer({"exp": FUTURE}),
    "issued later": Bearer({"sub": "alice", "exp": FUTURE, "iat": FUTURE - 10}),
    "signed": Bearer({"sub": "alice", "exp": FUTURE}, signature="c2ln"),
    "of an algorithm": Bearer({"sub": "alice", "exp": FUTURE}, header={"alg": "RS256"}),
}
MALFORMED = {
    "empty": b"",
    "no message": b"hello",
    "no header": b"y,,\x01auth=Bearer a.b.\x01\x01",
    "no token": b"n,,\x01key=value\x01\x01",
}


@claim(
    "sasl.a-bearer-token-lets-its-user-in",
    evidence=("KIP-255",),
    api="SaslAuthenticate",
    releases=BEARERS,
    versions=every("SaslAuthenticate"),
)
def test_a_bearer_token_lets_its_user_in(case):
    """A token of OAUTHBEARER that names a user and has not expired authenticates its client."""
    token = Bearer({"sub": "alice"}, expires_in_s=TWO_HOURS_S)
    return case.scenario(
        at_sasl("alice"),
        handshake("alice", OAUTHBEARER),
        authenticate("alice", token, version=case.version, name="authenticate"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("authenticate", "error_code").is_(ErrorCode.NONE),
            answer("authenticate", "auth_bytes").is_(b""),
            answered("after"),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.a-session-ends-with-its-bearer-token",
    evidence=("KIP-255", "KIP-368"),
    api="SaslAuthenticate",
    versions=only("SaslAuthenticate", 1),
    switches=("sasl-sessions-endless",),
)
def test_a_session_ends_with_its_bearer_token(case):
    """SaslAuthenticate tells how many milliseconds are left until a token of OAUTHBEARER expires,
    although no connections.max.reauth.ms is set; before 3.9 such a session has no end."""
    token = Bearer({"sub": "alice"}, expires_in_s=TWO_HOURS_S)
    left = answer("authenticate", "session_lifetime_ms")
    until_its_end = all_of(
        left.at_most(TWO_HOURS_S * 1000), left.at_least((TWO_HOURS_S - 600) * 1000)
    )
    return case.scenario(
        at_sasl("alice"),
        handshake("alice", OAUTHBEARER),
        authenticate("alice", token, version=case.version, name="authenticate"),
        expect=by_release({"2.2-2.8": left.is_(0), "3.9+": until_its_end}),
        config=sasl(case.release),
    )


@claim(
    "sasl.wrong-bearer-tokens-are-refused",
    evidence=("KIP-255",),
    api="SaslAuthenticate",
    releases=BEARERS,
    versions=only("SaslAuthenticate", 0),
    wrong=tuple(WRONG),
    switches=("bearer-tokens-not-checked",),
)
def test_wrong_bearer_tokens_are_refused(case):
    """A token of OAUTHBEARER that has expired or no end, names nobody, is issued later or says that
    it is signed, is answered with the status invalid_token; what its client says then with
    SASL_AUTHENTICATION_FAILED."""
    return case.scenario(
        at_sasl("alice"),
        handshake("alice", OAUTHBEARER),
        authenticate("alice", WRONG[case.wrong], version=case.version, name="authenticate"),
        authenticate("alice", b"\x01", version=case.version, name="understood"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("authenticate", "error_code").is_(ErrorCode.NONE),
            answer("authenticate", "auth_bytes").is_(REFUSED),
            answer("understood", "error_code").is_(ErrorCode.SASL_AUTHENTICATION_FAILED),
            refused("after"),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.messages-without-a-bearer-token-are-refused",
    evidence=("KIP-255",),
    api="SaslAuthenticate",
    releases=BEARERS,
    versions=only("SaslAuthenticate", 0),
    message=tuple(MALFORMED),
)
def test_messages_without_a_bearer_token_are_refused(case):
    """A message of OAUTHBEARER without a token in it answers SASL_AUTHENTICATION_FAILED at once."""
    message = MALFORMED[case.message]
    return case.scenario(
        at_sasl("alice"),
        handshake("alice", OAUTHBEARER),
        authenticate("alice", message, version=case.version, name="authenticate"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("authenticate", "error_code").is_(ErrorCode.SASL_AUTHENTICATION_FAILED),
            refused("after"),
        ),
        config=sasl(case.release),
    )
