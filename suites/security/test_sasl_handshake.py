"""SaslHandshake chooses a mechanism (KIP-43); its version says how tokens come after it (KIP-152).

Sources: SaslServerAuthenticator.handleHandshakeRequest, handleKafkaRequest at 1.0.2 to 4.3.1;
clauses SEC-03, SEC-04.
"""

from touchstone.harness.model.claim import claim, every, only
from touchstone.harness.model.expect import (
    all_of,
    answer,
    answered,
    fits,
    outcome,
    refused,
)
from touchstone.harness.model.scenario import Raw
from touchstone.harness.model.security_settings import SCRAM
from touchstone.harness.model.steps import api_versions, metadata
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.scram import WITH_USERS, all_messages, scram_user
from touchstone.suites.kit.security import (
    at_sasl,
    authenticate,
    handshake,
    plain,
    sasl,
    signed_in,
)


@claim(
    "sasl.a-handshake-names-the-mechanisms",
    evidence=("SEC-03", "KIP-43"),
    api="SaslHandshake",
    versions=every("SaslHandshake"),
    mechanism=("PLAIN", *SCRAM),
)
def test_a_handshake_names_the_mechanisms(case):
    """SaslHandshake with an enabled mechanism succeeds and names all that are enabled."""
    told = answer("handshake", "mechanisms")
    return case.scenario(
        at_sasl("alice"),
        handshake("alice", case.mechanism, version=case.version, name="handshake"),
        expect=all_of(
            answer("handshake", "error_code").is_(ErrorCode.NONE),
            *(told.contains(name) for name in ("PLAIN", *SCRAM)),
            told.lacks("GSSAPI"),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.unknown-mechanisms-are-refused",
    evidence=("SEC-03", "KIP-43"),
    api="SaslHandshake",
    versions=every("SaslHandshake"),
    mechanism=("GSSAPI", "plain", ""),
    switches=("sasl-mechanisms-not-named",),
)
def test_unknown_mechanisms_are_refused(case):
    """SaslHandshake with a mechanism that is not enabled answers UNSUPPORTED_SASL_MECHANISM, names
    those that are, and its connection is closed."""
    told = answer("handshake", "mechanisms")
    return case.scenario(
        at_sasl("alice"),
        handshake("alice", case.mechanism, version=case.version, name="handshake"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("handshake", "error_code").is_(ErrorCode.UNSUPPORTED_SASL_MECHANISM),
            *(told.contains(name) for name in ("PLAIN", *SCRAM)),
            refused("after"),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.a-second-handshake-is-refused",
    evidence=("KIP-43", "KIP-152"),
    api="SaslHandshake",
    versions=every("SaslHandshake"),
)
def test_a_second_handshake_is_refused(case):
    """A SaslHandshake where a token is due answers ILLEGAL_SASL_STATE, and its connection is
    closed."""
    return case.scenario(
        at_sasl("alice"),
        handshake("alice"),
        handshake("alice", version=case.version, name="again"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("again", "error_code").is_(ErrorCode.ILLEGAL_SASL_STATE), refused("after")
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.a-handshake-after-authentication-is-refused",
    evidence=("SEC-04", "KIP-368"),
    api="SaslHandshake",
    versions=every("SaslHandshake"),
)
def test_a_handshake_after_authentication_is_refused(case):
    """SaslHandshake of a client that is authenticated, and whose session has no end, answers
    ILLEGAL_SASL_STATE; the connection goes on."""
    user = case.topic("user")
    bare = [handshake("user", version=0), Raw(plain("alice"), "token", "user", expect="answer")]
    return case.scenario(
        scram_user(case, user, SCRAM[0]) if fits(case.release, WITH_USERS) else [],
        at_sasl("user"),
        all_messages("user", SCRAM[0], user) if fits(case.release, WITH_USERS) else bare,
        handshake("user", version=case.version, name="again"),
        metadata(connection="user", name="after"),
        expect=all_of(
            answer("again", "error_code").is_(ErrorCode.ILLEGAL_SASL_STATE), answered("after")
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.a-token-after-authentication-is-refused",
    evidence=("SEC-04", "KIP-152"),
    api="SaslAuthenticate",
    versions=only("SaslAuthenticate", 0),
)
def test_a_token_after_authentication_is_refused(case):
    """SaslAuthenticate of an authenticated client answers ILLEGAL_SASL_STATE; the connection goes
    on."""
    return case.scenario(
        signed_in("alice"),
        authenticate("alice", plain("alice"), version=case.version, name="again"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("again", "error_code").is_(ErrorCode.ILLEGAL_SASL_STATE), answered("after")
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.tokens-are-whole-frames-after-handshake-v0",
    evidence=("KIP-43", "KIP-152"),
    api="SaslHandshake",
    versions=lambda: every("SaslHandshake"),
    password=("right", "wrong"),
    where=lambda row: row["version"] == 0,
)
def test_tokens_are_whole_frames_after_handshake_v0(case):
    """After SaslHandshake v0 the next frame is the token itself: it is answered by an empty frame
    where the password is right, and by the end of the connection where it is wrong."""
    right = case.password == "right"
    token = plain("alice") if right else plain("alice", "wrong")
    return case.scenario(
        at_sasl("alice"),
        handshake("alice", version=case.version, name="handshake"),
        Raw(token, "token", "alice"),
        metadata(connection="alice", name="after") if right else [],
        expect=(
            all_of(outcome("token").is_("received"), answered("after"))
            if right
            else refused("token")
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.tokens-are-requests-after-handshake-v1",
    evidence=("KIP-152",),
    api="SaslHandshake",
    versions=lambda: every("SaslHandshake"),
    where=lambda row: row["version"] > 0,
)
def test_tokens_are_requests_after_handshake_v1(case):
    """After SaslHandshake v1 a token that is a frame of its own ends the connection."""
    return case.scenario(
        at_sasl("alice"),
        handshake("alice", version=case.version, name="handshake"),
        Raw(plain("alice"), "token", "alice"),
        expect=refused("token"),
        config=sasl(case.release),
    )


@claim(
    "sasl.versions-are-told-before-authentication",
    evidence=("SEC-03", "KIP-35"),
    api="ApiVersions",
    versions=only("ApiVersions", 1),
)
def test_versions_are_told_before_authentication(case):
    """ApiVersions is answered before authentication, and a handshake may follow."""
    return case.scenario(
        at_sasl("alice"),
        api_versions(version=case.version, connection="alice", name="versions"),
        handshake("alice", name="handshake"),
        expect=all_of(
            answer("versions", "error_code").is_(ErrorCode.NONE),
            answer("handshake", "error_code").is_(ErrorCode.NONE),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.versions-are-told-once",
    evidence=("SEC-03", "KIP-35"),
    api="ApiVersions",
    versions=only("ApiVersions", 1),
)
def test_versions_are_told_once(case):
    """A second ApiVersions before authentication ends the connection."""
    return case.scenario(
        at_sasl("alice"),
        api_versions(version=case.version, connection="alice", name="versions"),
        api_versions(version=case.version, connection="alice", name="again"),
        expect=all_of(answered("versions"), refused("again")),
        config=sasl(case.release),
    )


@claim(
    "sasl.versions-come-before-the-handshake",
    evidence=("SEC-03", "KIP-152"),
    api="ApiVersions",
    versions=only("ApiVersions", 1),
)
def test_versions_come_before_the_handshake(case):
    """ApiVersions between SaslHandshake and the token answers ILLEGAL_SASL_STATE, and its
    connection is closed."""
    return case.scenario(
        at_sasl("alice"),
        handshake("alice"),
        api_versions(version=case.version, connection="alice", name="versions"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("versions", "error_code").is_(ErrorCode.ILLEGAL_SASL_STATE), refused("after")
        ),
        config=sasl(case.release),
    )
