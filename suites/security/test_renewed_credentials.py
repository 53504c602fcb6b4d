"""What changes while its owner is known: a session that is renewed, a password, a mechanism.

A session of a bearer token lasts as long as the token, so one that is brief shows where a session
ends; the session of another connection, which ends later, shows that the time is over.

Sources: SaslServerAuthenticator.ReauthInfo, CredentialCache and ScramPublisher at 2.8.2 to 4.3.1;
KIP-368, KIP-554.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, answered, refused
from touchstone.harness.model.placeholders import Bearer
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.security_settings import OAUTHBEARER, SCRAM
from touchstone.harness.model.steps import metadata
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.scram import (
    MORE,
    OTHER,
    WITH_USERS,
    all_messages,
    scram_user,
)
from touchstone.suites.kit.security import at_sasl, authenticate, handshake, sasl

BRIEF_S, LATER_S, LONG_S = 5, 7, 3600
NONE, FAILED = ErrorCode.NONE, ErrorCode.SASL_AUTHENTICATION_FAILED


def _logs_in(connection, seconds, name, *, again=False):
    """A bearer token of alice that is good until so many seconds after the start of the run."""
    token = Bearer({"sub": "alice"}, expires_in_s=seconds)
    return [
        [] if again else at_sasl(connection),
        handshake(connection, OAUTHBEARER, name=f"{name} handshake"),
        authenticate(connection, token, version=1, name=name),
    ]


@claim("sasl.a-renewal-lengthens-the-session", evidence=("KIP-368",), api="Metadata",
       releases="3.9+", versions=only("Metadata", 4))  # fmt: skip
def test_a_renewal_lengthens_the_session(case):
    """A client that renews its session with a token that lasts longer is served after the end that
    the first token set."""
    over = metadata(version=case.version, connection="clock", name="over")
    return case.scenario(
        _logs_in("alice", BRIEF_S, "first"),
        _logs_in("alice", LONG_S, "second", again=True),
        _logs_in("clock", LATER_S, "clock begins"),
        Until(over, "controller_id", "==", -2),
        metadata(version=case.version, connection="alice", name="after"),
        expect=all_of(answer("second", "error_code").is_(NONE), refused("over"), answered("after")),
        config=sasl(case.release),
    )


@claim("sasl.a-renewal-shortens-the-session", evidence=("KIP-368",), api="Metadata",
       releases="3.9+", versions=only("Metadata", 4))  # fmt: skip
def test_a_renewal_shortens_the_session(case):
    """A client that renews its session with a token that ends sooner is closed when that one
    ends."""
    asked = metadata(version=case.version, connection="alice", name="at last")
    return case.scenario(
        _logs_in("alice", LONG_S, "first"),
        _logs_in("alice", BRIEF_S, "second", again=True),
        metadata(version=case.version, connection="alice", name="at first"),
        Until(asked, "controller_id", "==", -2),
        expect=all_of(answered("at first"), refused("at last")),
        config=sasl(case.release),
    )


@claim("sasl.scram-goes-by-the-password-that-is-set", evidence=("KIP-554", "SEC-02"),
       api="SaslAuthenticate", releases=WITH_USERS, versions=only("SaslAuthenticate", 0),
       mechanism=SCRAM)  # fmt: skip
def test_scram_goes_by_the_password_that_is_set(case):
    """After AlterUserScramCredentials sets another password, a client with the new one is let in
    and one with the old one refused, also where the old one had been used."""
    user = case.topic("user")
    return case.scenario(
        scram_user(case, user, case.mechanism),
        at_sasl("before"),
        all_messages("before", case.mechanism, user, name="old"),
        scram_user(case, user, case.mechanism, OTHER, MORE, name="changed"),
        at_sasl("new"),
        all_messages("new", case.mechanism, user, OTHER, name="new"),
        at_sasl("late"),
        all_messages("late", case.mechanism, user, name="late"),
        expect=all_of(
            answer("old", "error_code").is_(NONE),
            answer("new", "error_code").is_(NONE),
            answer("late", "error_code").is_(FAILED),
        ),
        config=sasl(case.release),
    )


@claim("sasl.scram-keeps-the-other-mechanism", evidence=("KIP-554",),
       api="AlterUserScramCredentials", releases=WITH_USERS,
       versions=only("AlterUserScramCredentials", 0), gone=SCRAM)  # fmt: skip
def test_scram_keeps_the_other_mechanism(case):
    """AlterUserScramCredentials that deletes a user's credential of one mechanism leaves that of
    the other, by which the user logs in."""
    user = case.topic("user")
    (left,) = (one for one in SCRAM if one != case.gone)
    row = {"name": user, "mechanism": 1 + SCRAM.index(case.gone)}
    asked = Ask("DescribeUserScramCredentials", 0, {"users": [{"name": user}]}, "told")
    held = "results[0].credential_infos"
    return case.scenario(
        scram_user(case, user, case.gone, name="one"),
        scram_user(case, user, left, name="other"),
        Ask("AlterUserScramCredentials", case.version, {"deletions": [row], "upsertions": []},
            "deleted"),
        Until(asked, held, "len ==", 1),
        at_sasl("alice"),
        all_messages("alice", left, user),
        expect=all_of(
            answer("deleted", "results[0].error_code").is_(NONE),
            answer("told", f"{held}[0].mechanism").is_(1 + SCRAM.index(left)),
            answer("proof", "error_code").is_(NONE),
        ),
        config=sasl(case.release),
    )  # fmt: skip
