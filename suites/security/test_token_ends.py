"""What a delegation token that has expired is still good for, and who ends one at once.

Sources: DelegationTokenControlManager at 3.9.2 and 4.3.1; KIP-48.
"""

from dataclasses import replace

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Until
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.security import sasl
from touchstone.suites.security.test_tokens import (
    HOUR,
    LATEST,
    OWNER,
    RENEWER,
    STRANGER,
    created,
    expired,
    known,
    renewed,
    signed_in,
)

NONE, EXPIRED = ErrorCode.NONE, ErrorCode.DELEGATION_TOKEN_EXPIRED
SINCE = "3.9+"  # tried there


@claim("tokens.what-has-expired-is-not-renewed", evidence=("KIP-48",), api="RenewDelegationToken",
       versions=only("RenewDelegationToken", LATEST), releases=SINCE,
       user=(RENEWER, STRANGER))  # fmt: skip
def test_what_has_expired_is_not_renewed(case):
    """RenewDelegationToken and ExpireDelegationToken of a token whose life is over answer
    DELEGATION_TOKEN_EXPIRED. To who is neither owner nor renewer a KRaft controller answers so to
    a renewal alone."""
    mismatch = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    over = renewed(OWNER, HOUR, version=case.version)
    stranger = case.user == STRANGER
    return case.scenario(
        signed_in(OWNER),
        created(renewers=(RENEWER,), lifetime=1000),
        Until(over, "error_code", "==", EXPIRED),
        signed_in(case.user, "asking"),
        _named(renewed("asking", HOUR, version=case.version), "renewed by"),
        _named(expired("asking", HOUR), "expired by"),
        expect=all_of(
            answer("renewed by", "error_code").is_(EXPIRED),
            answer("expired by", "error_code").is_(mismatch if stranger else EXPIRED),
        ),
        config=sasl(case.release),
    )


def _named(step, name):
    return replace(step, name=name)


@claim("tokens.a-renewer-ends-a-token-at-once", evidence=("KIP-48",), api="ExpireDelegationToken",
       versions=only("ExpireDelegationToken", LATEST), releases=SINCE)  # fmt: skip
def test_a_renewer_ends_a_token_at_once(case):
    """ExpireDelegationToken with a negative period answers DELEGATION_TOKEN_OWNER_MISMATCH to a
    stranger, whose request changes nothing, and removes the token for a renewer."""
    over = renewed(OWNER, -1)
    return case.scenario(
        signed_in(OWNER),
        created(renewers=(RENEWER,)),
        known(),
        signed_in(STRANGER),
        _named(expired(STRANGER, -1, version=case.version), "stranger's"),
        _named(renewed(OWNER, -1), "still there"),
        signed_in(RENEWER),
        _named(expired(RENEWER, -1, version=case.version), "renewer's"),
        Until(over, "error_code", "==", ErrorCode.DELEGATION_TOKEN_NOT_FOUND),
        expect=all_of(
            answer("stranger's", "error_code").is_(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH),
            answer("still there", "error_code").is_(NONE),
            answer("renewer's", "error_code").is_(NONE),
        ),
        config=sasl(case.release),
    )
