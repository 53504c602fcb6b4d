"""OAUTHBEARER with signed tokens, as brokers take them whose handler is Kafka's own.

The broker reads the keys from a file, expects an issuer and an audience, and lets clocks differ by
an hour. What is wrong with a token, its client does not learn.

Sources: KIP-768; OAuthBearerValidatorCallbackHandler, ValidatorAccessTokenValidator at 3.9.2;
BrokerJwtValidator at 4.3.1; RFC 7515, RFC 7519.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, answered, refused
from touchstone.harness.model.placeholders import Bearer
from touchstone.harness.model.security_settings import AUDIENCE, ISSUER, OAUTHBEARER, SKEW_S
from touchstone.harness.model.signing_key import KID
from touchstone.harness.model.steps import metadata
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.security import at_sasl, authenticate, handshake, signed_sasl

SIGNED = "3.9+"
PAST, FUTURE = 1_000_000_000, 4_000_000_000  # seconds since 1970
REFUSED = b'{"status":"invalid_token"}'
RS256 = {"alg": "RS256", "kid": KID}
CLAIMS = {"sub": "alice", "iss": ISSUER, "aud": AUDIENCE, "iat": PAST, "exp": FUTURE}
OTHER_SIGNATURE = "c2ln"


def signed(claims, header=RS256, by="RS256"):
    return Bearer(claims, header=header, signed=by)


def without(*names, **more):
    return {name: value for name, value in CLAIMS.items() if name not in names} | more


RIGHT = {
    "no scope": signed(CLAIMS),
    "a scope": signed(CLAIMS | {"scope": "read"}),
    "scopes": signed(CLAIMS | {"scope": ["read", "write"]}),
    "one of the audiences": signed(CLAIMS | {"aud": ["another", AUDIENCE]}),
    "no kid": signed(CLAIMS, header={"alg": "RS256"}),
    "issued later": signed(CLAIMS | {"iat": FUTURE - 10}),
    "expired within the skew": Bearer(
        without("exp"), expires_in_s=-SKEW_S // 2, header=RS256, signed="RS256"
    ),
}
UNSIGNED = {
    "another signature": Bearer(CLAIMS, header=RS256, signature=OTHER_SIGNATURE),
    "no signature": Bearer(CLAIMS, header=RS256),
    "an unknown key": signed(CLAIMS, header=RS256 | {"kid": "another"}),
    "alg none": Bearer(CLAIMS),
    "alg none, and a signature": Bearer(CLAIMS, signature=OTHER_SIGNATURE),
    "HMAC with the public key": signed(CLAIMS, header=RS256 | {"alg": "HS256"}, by="HS256"),
}
WRONG = {
    "expired": signed(CLAIMS | {"exp": PAST + 1}),
    "no exp": signed(without("exp")),
    "no iat": signed(without("iat")),
    "no sub": signed(without("sub")),
    "no aud": signed(without("aud")),
    "another aud": signed(CLAIMS | {"aud": "another"}),
    "no iss": signed(without("iss")),
    "another iss": signed(CLAIMS | {"iss": "another"}),
    "not yet": signed(CLAIMS | {"nbf": FUTURE - 10}),
    "a scope twice": signed(CLAIMS | {"scope": ["read", "read"]}),
    "an empty scope": signed(CLAIMS | {"scope": ""}),
}
LET_IN = all_of(
    answer("authenticate", "error_code").is_(ErrorCode.NONE),
    answer("authenticate", "auth_bytes").is_(b""),
)
TURNED_AWAY = all_of(
    answer("authenticate", "error_code").is_(ErrorCode.NONE),
    answer("authenticate", "auth_bytes").is_(REFUSED),
    answer("understood", "error_code").is_(ErrorCode.SASL_AUTHENTICATION_FAILED),
    answer("understood", "error_message").is_(REFUSED.decode()),
    refused("after"),
)


def shown(case, token):
    """A client shows its token, and says one byte more where that is refused."""
    return [
        at_sasl("alice"),
        handshake("alice", OAUTHBEARER),
        authenticate("alice", token, version=case.version, name="authenticate"),
        authenticate("alice", b"\x01", version=case.version, name="understood"),
        metadata(connection="alice", name="after"),
    ]


@claim(
    "sasl.a-signed-token-lets-its-user-in",
    evidence=("KIP-768",),
    api="SaslAuthenticate",
    releases=SIGNED,
    versions=only("SaslAuthenticate", 0),
    right=tuple(RIGHT),
)
def test_a_signed_token_lets_its_user_in(case):
    """A token of OAUTHBEARER that one of the broker's keys signed, and whose issuer, audience and
    times are right, authenticates its client; it needs no scope and no kid."""
    expired = case.right == "expired within the skew"  # its session ends where it begins
    return case.scenario(
        at_sasl("alice"),
        handshake("alice", OAUTHBEARER),
        authenticate("alice", RIGHT[case.right], version=case.version, name="authenticate"),
        *([] if expired else [metadata(connection="alice", name="after")]),
        expect=LET_IN if expired else all_of(LET_IN, answered("after")),
        config=signed_sasl(case.release),
    )


@claim(
    "sasl.tokens-that-nobody-signed-are-refused",
    evidence=("KIP-768",),
    api="SaslAuthenticate",
    releases=SIGNED,
    versions=only("SaslAuthenticate", 0),
    wrong=tuple(UNSIGNED),
    switches=("bearer-signatures-not-checked",),
)
def test_tokens_that_nobody_signed_are_refused(case):
    """A token of OAUTHBEARER without a signature of the broker's keys is answered with the status
    invalid_token, also one of alg none, and one whose HMAC has the public key for its secret; what
    its client says then with SASL_AUTHENTICATION_FAILED."""
    return case.scenario(
        *shown(case, UNSIGNED[case.wrong]),
        expect=TURNED_AWAY,
        config=signed_sasl(case.release),
    )


@claim(
    "sasl.signed-tokens-with-wrong-claims-are-refused",
    evidence=("KIP-768",),
    api="SaslAuthenticate",
    releases=SIGNED,
    versions=only("SaslAuthenticate", 0),
    wrong=tuple(WRONG),
    switches=("bearer-tokens-not-checked",),
)
def test_signed_tokens_with_wrong_claims_are_refused(case):
    """A signed token of OAUTHBEARER that has expired or is not valid yet, says no exp, iat or sub,
    has another issuer or audience than the broker expects, or a scope that is empty or said twice,
    is answered with the status invalid_token."""
    return case.scenario(
        *shown(case, WRONG[case.wrong]),
        expect=TURNED_AWAY,
        config=signed_sasl(case.release),
    )
