"""SCRAM credentials of users: set, told without their secrets, taken back, refused (KIP-554).

What is told of a user is which mechanisms there are, with how many iterations; salt and password
never come back. A change is told once the broker has heard of it, so each look waits for that.

Sources: ZkAdminManager.alterUserScramCredentials@2.8.2, ScramControlManager@3.9.2 and 4.3.1;
KIP-554; clause SEC-02.
"""

from typing import Any

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import metadata
from touchstone.reference_impl.wire.errors import ErrorCode

SHA_256, SHA_512 = 1, 2
FEWEST, MOST = 4096, 16_384


def _set(user: Any, mechanism: int = SHA_256, iterations: int = FEWEST) -> dict[str, Any]:
    return {
        "name": user,
        "mechanism": mechanism,
        "iterations": iterations,
        "salt": b"salt",
        "salted_password": b"p" * 32,
    }


def _drop(user: Any, mechanism: int = SHA_256) -> dict[str, Any]:
    return {"name": user, "mechanism": mechanism}


def _alter(
    *upsertions: Any, drop: tuple[Any, ...] = (), version: int = 0, name: str = "alter"
) -> Ask:
    body = {"deletions": list(drop), "upsertions": list(upsertions)}
    return Ask("AlterUserScramCredentials", version, body, name)


def _told(*users: Any, version: int = 0, name: str = "told") -> Ask:
    body = {"users": [{"name": user} for user in users]}
    return Ask("DescribeUserScramCredentials", version, body, name)


def _until(user: Any, held: int, *, version: int = 0, name: str = "told") -> Until:
    step = _told(user, version=version, name=name)
    return Until(step, "results[0].credential_infos", "len ==", held)


@claim(
    "security.scram-credentials-are-told-without-their-secrets",
    evidence=("SEC-02", "KIP-554"),
    api="AlterUserScramCredentials",
    versions=every("AlterUserScramCredentials"),
    mechanism=(SHA_256, SHA_512),
    iterations=(FEWEST, MOST),
)
def test_scram_credentials_are_told_without_their_secrets(case):
    """DescribeUserScramCredentials returns mechanism and iterations of a credential that
    AlterUserScramCredentials set, and RESOURCE_NOT_FOUND after its deletion."""
    user = case.topic("user")
    return case.scenario(
        _alter(_set(user, case.mechanism, case.iterations), version=case.version, name="set"),
        _until(user, 1, name="there"),
        _alter(drop=(_drop(user, case.mechanism),), version=case.version, name="drop"),
        _until(user, 0, name="gone"),
        expect=all_of(
            answer("set", "results[0].error_code").is_(ErrorCode.NONE),
            answer("there", "results[0].credential_infos").is_(
                [{"mechanism": case.mechanism, "iterations": case.iterations}]
            ),
            answer("drop", "results[0].error_code").is_(ErrorCode.NONE),
            answer("gone", "results[0].error_code").is_(ErrorCode.RESOURCE_NOT_FOUND),
        ),
    )


@claim(
    "security.scram-users-may-have-both-mechanisms",
    evidence=("KIP-554",),
    api="DescribeUserScramCredentials",
    versions=every("DescribeUserScramCredentials"),
)
def test_scram_users_may_have_both_mechanisms(case):
    """DescribeUserScramCredentials returns both credentials of a user with two mechanisms; setting
    one again changes that one."""
    user = case.topic("user")
    more = FEWEST + 1
    return case.scenario(
        _alter(_set(user), name="one"),
        _until(user, 1, version=case.version, name="has one"),
        _alter(_set(user, SHA_512), name="other"),
        _until(user, 2, version=case.version, name="has both"),
        _alter(_set(user, SHA_512, more), name="again"),
        Until(
            _told(user, version=case.version, name="changed"),
            "results[0].credential_infos",
            "contains",
            {"mechanism": SHA_512, "iterations": more},
        ),
        expect=all_of(
            answer("has both", "results[0].credential_infos").has_length(2),
            answer("again", "results[0].error_code").is_(ErrorCode.NONE),
            answer("changed", "results[0].credential_infos").contains(
                {"mechanism": SHA_512, "iterations": more}
            ),
        ),
    )


REFUSED = {
    "too few iterations": ErrorCode.UNACCEPTABLE_CREDENTIAL,
    "too many iterations": ErrorCode.UNACCEPTABLE_CREDENTIAL,
    "no name": ErrorCode.UNACCEPTABLE_CREDENTIAL,
    "no mechanism": ErrorCode.UNSUPPORTED_SASL_MECHANISM,
    "unknown mechanism": ErrorCode.UNSUPPORTED_SASL_MECHANISM,
}


@claim(
    "security.scram-credentials-that-are-refused",
    evidence=("KIP-554",),
    api="AlterUserScramCredentials",
    versions=every("AlterUserScramCredentials"),
    why=tuple(REFUSED),
)
def test_scram_credentials_that_are_refused(case):
    """AlterUserScramCredentials refuses iterations outside 4096 to 16384, an empty user name and an
    unknown mechanism, and sets nothing."""
    user = case.topic("user")
    row = {
        "too few iterations": _set(user, iterations=FEWEST - 1),
        "too many iterations": _set(user, iterations=MOST + 1),
        "no name": _set(""),
        "no mechanism": _set(user, 0),
        "unknown mechanism": _set(user, 3),
    }[case.why]
    return case.scenario(
        _alter(row, version=case.version),
        _told(user, name="after"),
        expect=all_of(
            answer("alter", "results[0].error_code").is_(REFUSED[case.why]),
            answer("after", "results[0].error_code").is_(ErrorCode.RESOURCE_NOT_FOUND),
        ),
    )


@claim(
    "security.scram-users-come-once-in-a-request",
    evidence=("KIP-554",),
    api="AlterUserScramCredentials",
    versions=every("AlterUserScramCredentials"),
    second=(SHA_256, SHA_512),
)
def test_scram_users_come_once_in_a_request(case):
    """AlterUserScramCredentials answers DUPLICATE_RESOURCE for a credential that is named twice,
    and on KRaft for a user that is named twice."""
    user = case.topic("user")
    twice = answer("alter", "results[0].error_code").is_(ErrorCode.DUPLICATE_RESOURCE)
    apart = answer("alter", "results[0].error_code").is_(ErrorCode.NONE)
    return case.scenario(
        _alter(_set(user), _set(user, case.second), version=case.version),
        metadata(name="after"),
        expect=by_release({"2.8": twice if case.second == SHA_256 else apart, "3.9+": twice}),
    )


@claim(
    "security.scram-credentials-that-are-not-there-cannot-go",
    evidence=("KIP-554",),
    api="AlterUserScramCredentials",
    versions=every("AlterUserScramCredentials"),
)
def test_scram_credentials_that_are_not_there_cannot_go(case):
    """AlterUserScramCredentials answers RESOURCE_NOT_FOUND for the deletion of a missing credential
    and applies the rest of the request."""
    user, other = case.topic("user"), case.topic("other")
    return case.scenario(
        _alter(_set(other), drop=(_drop(user),), version=case.version),
        _until(other, 1, name="other"),
        expect=all_of(
            answer("alter", "results[*].error_code").contains(ErrorCode.RESOURCE_NOT_FOUND),
            answer("alter", "results[*].error_code").contains(ErrorCode.NONE),
            answer("other", "results[0].credential_infos").has_length(1),
        ),
    )


@claim(
    "security.scram-users-are-asked-for-once",
    evidence=("KIP-554",),
    api="DescribeUserScramCredentials",
    versions=every("DescribeUserScramCredentials"),
    asked=("unknown", "twice", "no name"),
)
def test_scram_users_are_asked_for_once(case):
    """DescribeUserScramCredentials answers RESOURCE_NOT_FOUND for an unknown user and
    DUPLICATE_RESOURCE for one that is named twice."""
    user = case.topic("user")
    users = {"unknown": (user,), "twice": (user, user), "no name": ("",)}[case.asked]
    code = ErrorCode.DUPLICATE_RESOURCE if case.asked == "twice" else ErrorCode.RESOURCE_NOT_FOUND
    return case.scenario(
        _told(*users, version=case.version),
        expect=answer("told", "results[0].error_code").is_(code),
    )
