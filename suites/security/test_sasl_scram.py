"""SCRAM (RFC 5802): a client proves that it knows a password, and the broker that it knows it too.

The users are made by AlterUserScramCredentials, which is there from 2.7 on; before, only what needs
no user is claimed.

Sources: ScramSaslServer at 1.0.2 to 4.3.1, ScramCredentialUtils; KIP-84, KIP-554; clause SEC-02.
"""

from touchstone.harness.model.claim import claim, every, only
from touchstone.harness.model.expect import all_of, answer, answered, refused
from touchstone.harness.model.placeholders import Ref, Scram
from touchstone.harness.model.security_settings import SCRAM
from touchstone.harness.model.steps import metadata, start_broker, stop_broker
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.scram import (
    FEWEST,
    MORE,
    OTHER,
    PASSWORD,
    WITH_USERS,
    all_messages,
    no_scram_user,
    scram_user,
)
from touchstone.suites.kit.security import at_sasl, authenticate, handshake, sasl

FAILED = ErrorCode.SASL_AUTHENTICATION_FAILED


@claim(
    "sasl.scram-proves-both-sides",
    evidence=("KIP-84", "SEC-02"),
    api="SaslAuthenticate",
    releases=WITH_USERS,
    versions=every("SaslAuthenticate"),
    mechanism=SCRAM,
    switches=("scram-signature-wrong",),
)
def test_scram_proves_both_sides(case):
    """A client of SCRAM that proves its password is let in, and told a signature that only who
    knows the password can make."""
    user = case.topic("user")
    proven = Scram("proven", case.mechanism, user, PASSWORD, Ref("proof challenge", "auth_bytes"))
    return case.scenario(
        scram_user(case, user, case.mechanism),
        at_sasl("alice"),
        all_messages("alice", case.mechanism, user, version=case.version),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("proof challenge", "error_code").is_(ErrorCode.NONE),
            answer("proof", "error_code").is_(ErrorCode.NONE),
            answer("proof", "auth_bytes").is_(proven),
            answered("after"),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.scram-tells-the-iterations-of-its-user",
    evidence=("KIP-84", "KIP-554"),
    api="SaslAuthenticate",
    releases=WITH_USERS,
    versions=only("SaslAuthenticate", 0),
    iterations=(FEWEST, MORE),
)
def test_scram_tells_the_iterations_of_its_user(case):
    """A broker tells a client of SCRAM with how many iterations its password is kept, and lets it
    in by them."""
    user, mechanism = case.topic("user"), SCRAM[0]
    return case.scenario(
        scram_user(case, user, mechanism, iterations=case.iterations),
        at_sasl("alice"),
        all_messages("alice", mechanism, user, version=case.version),
        expect=all_of(
            answer("proof challenge", "error_code").is_(ErrorCode.NONE),
            answer("proof", "error_code").is_(ErrorCode.NONE),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.scram-refuses-a-wrong-password",
    evidence=("KIP-84",),
    api="SaslAuthenticate",
    releases=WITH_USERS,
    versions=only("SaslAuthenticate", 0),
    mechanism=SCRAM,
    switches=("scram-proofs-not-checked",),
)
def test_scram_refuses_a_wrong_password(case):
    """A client of SCRAM with a wrong password is challenged, and its proof answered with
    SASL_AUTHENTICATION_FAILED."""
    user = case.topic("user")
    return case.scenario(
        scram_user(case, user, case.mechanism),
        at_sasl("alice"),
        all_messages("alice", case.mechanism, user, OTHER, version=case.version),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("proof challenge", "error_code").is_(ErrorCode.NONE),
            answer("proof", "error_code").is_(FAILED),
            answer("proof", "auth_bytes").is_(b""),
            refused("after"),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.scram-refuses-an-unknown-user-at-once",
    evidence=("KIP-84", "observed on 1.0.2", "observed on 4.3.1"),
    api="SaslAuthenticate",
    versions=only("SaslAuthenticate", 0),
    mechanism=SCRAM,
)
def test_scram_refuses_an_unknown_user_at_once(case):
    """A client of SCRAM whose user has no credential of the mechanism is refused without a
    challenge."""
    first = Scram("first", case.mechanism, case.topic("user"))
    return case.scenario(
        at_sasl("alice"),
        handshake("alice", case.mechanism),
        authenticate("alice", first, version=case.version, name="first"),
        metadata(connection="alice", name="after"),
        expect=all_of(answer("first", "error_code").is_(FAILED), refused("after")),
        config=sasl(case.release),
    )


MALFORMED = {
    "no message": b"hello",
    "a binding is wanted": b"p=tls-unique,,n=alice,r=abc",
    "a binding is possible": b"y,,n=alice,r=abc",
    "no nonce": b"n,,n=alice,r=",
    "nothing": b"",
}


@claim(
    "sasl.scram-refuses-what-it-cannot-read",
    evidence=("KIP-84", "observed on 1.0.2", "observed on 4.3.1"),
    api="SaslAuthenticate",
    versions=only("SaslAuthenticate", 0),
    message=tuple(MALFORMED),
)
def test_scram_refuses_what_it_cannot_read(case):
    """A first message of SCRAM that cannot be read, or speaks of channel binding, answers
    SASL_AUTHENTICATION_FAILED."""
    return case.scenario(
        at_sasl("alice"),
        handshake("alice", SCRAM[0]),
        authenticate("alice", MALFORMED[case.message], version=case.version, name="first"),
        metadata(connection="alice", name="after"),
        expect=all_of(answer("first", "error_code").is_(FAILED), refused("after")),
        config=sasl(case.release),
    )


@claim(
    "sasl.scram-refuses-a-last-message-without-a-proof",
    evidence=("KIP-84", "observed on 2.8.2", "observed on 4.3.1"),
    api="SaslAuthenticate",
    releases=WITH_USERS,
    versions=only("SaslAuthenticate", 0),
)
def test_scram_refuses_a_last_message_without_a_proof(case):
    """A last message of SCRAM without nonce and proof answers SASL_AUTHENTICATION_FAILED."""
    user, mechanism = case.topic("user"), SCRAM[1]
    return case.scenario(
        scram_user(case, user, mechanism),
        at_sasl("alice"),
        handshake("alice", mechanism),
        authenticate("alice", Scram("first", mechanism, user), name="first"),
        authenticate("alice", b"c=biws", version=case.version, name="final"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("first", "error_code").is_(ErrorCode.NONE),
            answer("final", "error_code").is_(FAILED),
            refused("after"),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.scram-credentials-count-at-once",
    evidence=("SEC-02", "KIP-554"),
    api="AlterUserScramCredentials",
    versions=every("AlterUserScramCredentials"),
    change=("another password", "none"),
    switches=("scram-changes-unheard",),
)
def test_scram_credentials_count_at_once(case):
    """A password that was changed or taken back lets nobody in any more, while the broker runs;
    who came before stays."""
    user, mechanism = case.topic("user"), SCRAM[0]
    altered = (
        scram_user(case, user, mechanism, OTHER, MORE, name="altered")
        if case.change == "another password"
        else no_scram_user(case, user, mechanism, case.version, "altered")
    )
    changed = case.change == "another password"
    after = answer("second" if changed else "second challenge", "error_code").is_(FAILED)
    return case.scenario(
        scram_user(case, user, mechanism),
        at_sasl("before"),
        all_messages("before", mechanism, user, name="first"),
        altered,
        at_sasl("after"),
        all_messages("after", mechanism, user, name="second")[: None if changed else 2],
        metadata(connection="before", name="stays"),
        expect=all_of(answer("first", "error_code").is_(ErrorCode.NONE), after, answered("stays")),
        config=sasl(case.release),
    )


@claim(
    "sasl.scram-credentials-outlive-a-restart",
    evidence=("SEC-01", "SEC-02"),
    releases=WITH_USERS,
    capabilities=("harm",),
    switches=("scram-users-forgotten",),
)
def test_scram_credentials_outlive_a_restart(case):
    """A broker that was restarted lets a user of SCRAM in by the first connection."""
    user, mechanism = case.topic("user"), SCRAM[1]
    return case.scenario(
        scram_user(case, user, mechanism),
        stop_broker(0),
        start_broker(0),
        at_sasl("first"),
        all_messages("first", mechanism, user),
        expect=all_of(
            answer("proof challenge", "error_code").is_(ErrorCode.NONE),
            answer("proof", "error_code").is_(ErrorCode.NONE),
        ),
        config=sasl(case.release),
    )
