"""A session may have an end, and its client authenticates anew before that (KIP-368).

PLAIN's sessions last an hour here, those of a bearer token as long as the token. Before 2.2 no
session ends.

Sources: SaslServerAuthenticator.ReauthInfo, KafkaChannel.maybeBeginServerReauthentication at 2.2.1
to 4.3.1; SocketServer.processCompletedReceives.
"""

from touchstone.harness.model.claim import claim, only, range_
from touchstone.harness.model.expect import all_of, answer, answered, by_release, refused
from touchstone.harness.model.placeholders import Bearer
from touchstone.harness.model.scenario import Await, Raw, Until
from touchstone.harness.model.security_settings import OAUTHBEARER, SCRAM, SESSION_MS
from touchstone.harness.model.steps import api_versions, metadata
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.kit.security import (
    at_sasl,
    authenticate,
    handshake,
    plain,
    sasl,
    signed_in,
)

WITH_SESSIONS = "2.2+"
# 2.2 may have read the token of a renewal before it takes up the handshake in front of it, and then
# closes the connection (Selector.stagedReceives at 2.2.1), so there nothing is sent in a row.
IN_A_ROW = "2.8+"


def _again(mechanism="PLAIN", version=1):
    return handshake("alice", mechanism, version=version, name="handshake again")


@claim(
    "sasl.a-session-has-the-length-that-is-set",
    evidence=("KIP-368",),
    api="SaslAuthenticate",
    versions=only("SaslAuthenticate", 1),
    switches=("sasl-sessions-endless",),
)
def test_a_session_has_the_length_that_is_set(case):
    """SaslAuthenticate tells the milliseconds that connections.max.reauth.ms sets for the
    mechanism."""
    return case.scenario(
        at_sasl("alice"),
        handshake("alice"),
        authenticate("alice", plain("alice"), version=case.version, name="authenticate"),
        expect=answer("authenticate", "session_lifetime_ms").is_(SESSION_MS),
        config=sasl(case.release),
    )


@claim(
    "sasl.a-session-may-be-renewed",
    evidence=("KIP-368",),
    api="SaslAuthenticate",
    versions=only("SaslAuthenticate", 1),
)
def test_a_session_may_be_renewed(case):
    """A client whose session has an end may authenticate anew on its connection, by the same
    mechanism and as the same user."""
    return case.scenario(
        at_sasl("alice"),
        handshake("alice"),
        authenticate("alice", plain("alice"), version=case.version, name="first"),
        metadata(connection="alice", name="between"),
        _again(),
        authenticate("alice", plain("alice"), version=case.version, name="second"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("handshake again", "error_code").is_(ErrorCode.NONE),
            answer("second", "error_code").is_(ErrorCode.NONE),
            answer("second", "session_lifetime_ms").is_(SESSION_MS),
            answered("after"),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.a-session-is-renewed-at-most-once-a-second",
    evidence=("KIP-368", "observed on 2.8.2", "observed on 4.3.1"),
    api="SaslHandshake",
    releases=IN_A_ROW,
    versions=range_("SaslHandshake", 1),
)
def test_a_session_is_renewed_at_most_once_a_second(case):
    """A second renewal less than a second after the one before is ILLEGAL_SASL_STATE, and may be
    tried later."""
    later = handshake("alice", version=case.version, name="later")
    return case.scenario(
        signed_in("alice"),
        sent(_again(version=case.version)),
        sent(authenticate("alice", plain("alice"), name="second")),
        sent(handshake("alice", version=case.version, name="at once")),
        Await("handshake again"),
        Await("second"),
        Await("at once"),
        Until(later, "error_code", "==", 0),
        authenticate("alice", plain("alice"), name="third"),
        expect=all_of(
            answer("second", "error_code").is_(ErrorCode.NONE),
            answer("at once", "error_code").is_(ErrorCode.ILLEGAL_SASL_STATE),
            answer("third", "error_code").is_(ErrorCode.NONE),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.a-session-keeps-its-user",
    evidence=("KIP-368",),
    api="SaslAuthenticate",
    versions=only("SaslAuthenticate", 1),
    switches=("sasl-users-change",),
)
def test_a_session_keeps_its_user(case):
    """A renewal as another user answers SASL_AUTHENTICATION_FAILED, and ends the connection."""
    return case.scenario(
        signed_in("alice"),
        _again(),
        authenticate("alice", plain("bob"), version=case.version, name="second"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("second", "error_code").is_(ErrorCode.SASL_AUTHENTICATION_FAILED),
            refused("after"),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.a-session-keeps-its-mechanism",
    evidence=("KIP-368",),
    api="SaslHandshake",
    releases=WITH_SESSIONS,
    versions=range_("SaslHandshake", 1),
    mechanism=SCRAM,
)
def test_a_session_keeps_its_mechanism(case):
    """A renewal by another mechanism has its handshake answered, and then its connection closed."""
    return case.scenario(
        signed_in("alice"),
        handshake("alice", case.mechanism, version=case.version, name="handshake again"),
        authenticate("alice", b"n,,n=alice,r=nonce", name="second"),
        expect=all_of(
            answer("handshake again", "error_code").is_(ErrorCode.NONE), refused("second")
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.an-unknown-mechanism-ends-a-session",
    evidence=("KIP-368", "observed on 2.2.1", "observed on 4.3.1"),
    api="SaslHandshake",
    releases=WITH_SESSIONS,
    versions=range_("SaslHandshake", 1),
)
def test_an_unknown_mechanism_ends_a_session(case):
    """A renewal by a mechanism that is not enabled is answered by the end of the connection."""
    return case.scenario(
        signed_in("alice"),
        metadata(connection="alice", name="between"),
        handshake("alice", "GSSAPI", version=case.version, name="handshake again"),
        expect=refused("handshake again"),
        config=sasl(case.release),
    )


@claim(
    "sasl.a-wrong-password-ends-a-session",
    evidence=("KIP-368",),
    api="SaslAuthenticate",
    versions=only("SaslAuthenticate", 1),
)
def test_a_wrong_password_ends_a_session(case):
    """A renewal with a wrong password answers SASL_AUTHENTICATION_FAILED, and the connection is
    closed."""
    return case.scenario(
        signed_in("alice"),
        _again(),
        authenticate("alice", plain("alice", "wrong"), version=case.version, name="second"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("second", "error_code").is_(ErrorCode.SASL_AUTHENTICATION_FAILED),
            refused("after"),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.versions-are-not-told-during-a-renewal",
    evidence=("KIP-368", "observed on 2.2.1", "observed on 4.3.1"),
    api="ApiVersions",
    releases=WITH_SESSIONS,
    versions=only("ApiVersions", 1),
)
def test_versions_are_not_told_during_a_renewal(case):
    """ApiVersions after the handshake of a renewal answers ILLEGAL_SASL_STATE, and the connection
    is closed."""
    return case.scenario(
        signed_in("alice"),
        _again(),
        api_versions(version=case.version, connection="alice", name="versions"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("versions", "error_code").is_(ErrorCode.ILLEGAL_SASL_STATE), refused("after")
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.sessions-that-began-with-handshake-v0",
    evidence=("KIP-368", "observed on 2.2.1", "observed on 4.3.1"),
    api="SaslHandshake",
    releases=WITH_SESSIONS,
    versions=range_("SaslHandshake", 1),
)
def test_sessions_that_began_with_handshake_v0(case):
    """A client that authenticated after SaslHandshake v0 may renew its session since 2.8, and in
    2.2 its SaslHandshake answers ILLEGAL_SASL_STATE."""
    again = answer("handshake again", "error_code")
    return case.scenario(
        at_sasl("alice"),
        handshake("alice", version=0),
        Raw(plain("alice"), "token", "alice", expect="answer"),
        _again(version=case.version),
        expect=by_release(
            {"2.2": again.is_(ErrorCode.ILLEGAL_SASL_STATE), "2.8+": again.is_(ErrorCode.NONE)}
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.a-session-that-is-over-is-closed",
    evidence=("KIP-368",),
    api="Metadata",
    releases="3.9+",
    versions=only("Metadata", 4),
    switches=("sasl-sessions-outlived",),
)
def test_a_session_that_is_over_is_closed(case):
    """A request after the end of the session is answered by the end of the connection."""
    brief = Bearer({"sub": "alice"}, expires_in_s=3)
    asked = metadata(version=case.version, connection="alice", name="at last")
    return case.scenario(
        at_sasl("alice"),
        handshake("alice", OAUTHBEARER),
        authenticate("alice", brief, version=1),
        metadata(connection="alice", name="at first"),
        Until(asked, "controller_id", "==", -2),
        expect=all_of(answered("at first"), refused("at last")),
        config=sasl(case.release),
    )
