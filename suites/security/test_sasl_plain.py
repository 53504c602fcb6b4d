"""PLAIN (RFC 4616): a name and a password in one token.

Sources: PlainSaslServer, SaslServerAuthenticator at 1.0.2 to 4.3.1; KIP-43, KIP-152, KIP-368;
clauses SEC-01, SEC-03, SEC-04.
"""

from touchstone.harness.model.claim import claim, every, only
from touchstone.harness.model.expect import all_of, answer, answered, by_release, refused
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.steps import metadata
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.security import (
    at_sasl,
    authenticate,
    handshake,
    plain,
    sasl,
    signed_in,
)


@claim(
    "sasl.a-right-password-is-let-in",
    evidence=("SEC-03", "KIP-152"),
    api="SaslAuthenticate",
    versions=every("SaslAuthenticate"),
)
def test_a_right_password_is_let_in(case):
    """A client whose password is right is authenticated by SaslAuthenticate and served after it."""
    return case.scenario(
        at_sasl("alice"),
        handshake("alice"),
        authenticate("alice", plain("alice"), version=case.version, name="authenticate"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("authenticate", "error_code").is_(ErrorCode.NONE),
            answer("authenticate", "auth_bytes").is_(b""),
            answered("after"),
        ),
        config=sasl(case.release),
    )


WRONG = {
    "password": plain("alice", "wrong"),
    "user": plain("nobody", "alice-secret"),
    "no user": plain("", "alice-secret"),
    "no password": plain("alice", ""),
    "two parts": b"alice\0alice-secret",
    "four parts": plain("alice") + b"\0more",
    "nothing": b"",
    "another's id": plain("alice", as_user="bob"),
}


@claim(
    "sasl.wrong-passwords-are-refused",
    evidence=("SEC-03", "KIP-152"),
    api="SaslAuthenticate",
    versions=only("SaslAuthenticate", 0),
    wrong=tuple(WRONG),
    switches=("sasl-passwords-not-checked",),
)
def test_wrong_passwords_are_refused(case):
    """A token of PLAIN that is not a known user with its own password answers
    SASL_AUTHENTICATION_FAILED without a token, and its connection is closed."""
    return case.scenario(
        at_sasl("alice"),
        handshake("alice"),
        authenticate("alice", WRONG[case.wrong], version=case.version, name="authenticate"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("authenticate", "error_code").is_(ErrorCode.SASL_AUTHENTICATION_FAILED),
            answer("authenticate", "auth_bytes").is_(b""),
            refused("after"),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.a-wrong-password-is-said-to-be-one",
    evidence=("KIP-152", "observed on 1.0.2", "observed on 4.3.1"),
    api="SaslAuthenticate",
    versions=only("SaslAuthenticate", 0),
    wrong=("password", "user"),
)
def test_a_wrong_password_is_said_to_be_one(case):
    """A wrong password and an unknown user are refused in the same words."""
    return case.scenario(
        at_sasl("alice"),
        handshake("alice"),
        authenticate("alice", WRONG[case.wrong], version=case.version, name="authenticate"),
        expect=answer("authenticate", "error_message").is_(
            "Authentication failed: Invalid username or password"
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.a-client-may-name-itself-twice",
    evidence=("observed on 1.0.2", "observed on 4.3.1"),
    api="SaslAuthenticate",
    versions=only("SaslAuthenticate", 0),
)
def test_a_client_may_name_itself_twice(case):
    """A token of PLAIN may name its own user as the identity to act as."""
    return case.scenario(
        at_sasl("alice"),
        handshake("alice"),
        authenticate(
            "alice", plain("alice", as_user="alice"), version=case.version, name="authenticate"
        ),
        metadata(connection="alice", name="after"),
        expect=all_of(answer("authenticate", "error_code").is_(ErrorCode.NONE), answered("after")),
        config=sasl(case.release),
    )


@claim(
    "sasl.an-empty-part-behind-a-token",
    evidence=("observed on 2.2.1", "observed on 2.8.2"),
    api="SaslAuthenticate",
    versions=only("SaslAuthenticate", 0),
)
def test_an_empty_part_behind_a_token(case):
    """An empty fourth part of a token of PLAIN is passed over before 2.8, and refused since."""
    code = answer("authenticate", "error_code")
    return case.scenario(
        at_sasl("alice"),
        handshake("alice"),
        authenticate("alice", plain("alice") + b"\0", version=case.version, name="authenticate"),
        expect=by_release(
            {
                "1.0-2.2": code.is_(ErrorCode.NONE),
                "2.8+": code.is_(ErrorCode.SASL_AUTHENTICATION_FAILED),
            }
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.clients-learn-of-the-listener-that-they-came-by",
    evidence=("SEC-07", "KIP-103"),
    api="Metadata",
    versions=only("Metadata", 4),
    switches=("listeners-mixed-up",),
)
def test_clients_learn_of_the_listener_that_they_came_by(case):
    """Metadata names, to a client of either listener, the broker at an address of its own."""
    ours = answer("by sasl", "brokers[0].port")
    return case.scenario(
        metadata(version=case.version, name="by plain"),
        signed_in("alice"),
        metadata(version=case.version, connection="alice", name="by sasl"),
        expect=ours.is_not(Ref("by plain", "brokers[0].port")),
        config=sasl(case.release),
    )
