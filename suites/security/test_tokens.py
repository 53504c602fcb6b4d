"""Delegation tokens of users who have logged in: how long they last, and who may do what with them.

Times are told relative to one another, as a token begins by the broker's clock. A day is what
delegation.token.expiry.time.ms is by default, seven days delegation.token.max.lifetime.ms.

Sources: DelegationTokenManager at 2.8.2, DelegationTokenControlManager at 3.9.2 and 4.3.1; KIP-48.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Name, Ref
from touchstone.harness.model.scenario import Ask, Until
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.security import sasl, with_bearer

HOUR, DAY = 3_600_000, 86_400_000
WEEK = 7 * DAY
A_MINUTE = 60_000  # more than the steps of a case take
LATEST = 2  # of each of the four APIs, the newest version that all these releases serve
RELEASES = "2.8+"
NONE = ErrorCode.NONE
OWNER, RENEWER, STRANGER = "owner", "renewer", "stranger"


def user(who):
    """A user of this case alone, as everybody is told everybody's tokens."""
    return Name(who, token=who)


def signed_in(who, connection=None):
    return with_bearer(user(who), connection or who)


def users(*names):
    return [{"principal_type": "User", "principal_name": user(name)} for name in names]


def created(*, renewers=(), lifetime=-1, version=LATEST):
    """A token of the owner, who has logged in."""
    body = {"renewers": users(*renewers), "max_lifetime_ms": lifetime}
    return Ask("CreateDelegationToken", version, body, "created", OWNER)


def known():
    """Wait until the broker knows the token that was created: in KRaft by the metadata log."""
    asked = Ask("DescribeDelegationToken", LATEST, {"owners": users(OWNER)}, "known", OWNER)
    return Until(asked, "tokens[*].hmac", "contains", Ref("created", "hmac"))


def renewed(connection, period, *, version=LATEST):
    body = {"hmac": Ref("created", "hmac"), "renew_period_ms": period}
    return Ask("RenewDelegationToken", version, body, "renewed", connection)


def expired(connection, period, *, version=LATEST):
    body = {"hmac": Ref("created", "hmac"), "expiry_time_period_ms": period}
    return Ask("ExpireDelegationToken", version, body, "expired", connection)


def begins_with(step, path, after):
    """This instant is so many milliseconds after the token's first, or a little later."""
    first = "issue_timestamp_ms"
    return all_of(
        answer(step, path).at_least(Ref("created", first, after)),
        answer(step, path).at_most(Ref("created", first, after + A_MINUTE)),
    )


# What is asked for, and for how long the token then is, at the most and until it is renewed.
LIFETIMES = {
    "default": (-1, WEEK, DAY),
    "nothing": (0, WEEK, DAY),
    "short": (HOUR, HOUR, HOUR),
    "two-days": (2 * DAY, 2 * DAY, DAY),
    "long": (8 * DAY, WEEK, DAY),
}


@claim("tokens.a-token-lasts-as-long-as-both-allow", evidence=("KIP-48",),
       api="CreateDelegationToken", versions=only("CreateDelegationToken", LATEST),
       releases=RELEASES, lifetime=tuple(LIFETIMES))  # fmt: skip
def test_a_token_lasts_as_long_as_both_allow(case):
    """CreateDelegationToken makes a token of whoever asks. It lasts as long as he wants and
    delegation.token.max.lifetime.ms allows, and expires after delegation.token.expiry.time.ms, or
    with its life where that is shorter."""
    wanted, longest, usual = LIFETIMES[case.lifetime]
    issued = "issue_timestamp_ms"
    return case.scenario(
        signed_in(OWNER),
        created(lifetime=wanted, version=case.version),
        expect=all_of(
            answer("created", "error_code").is_(NONE),
            answer("created", "principal_name").is_(user(OWNER)),
            answer("created", "max_timestamp_ms").is_(Ref("created", issued, longest)),
            answer("created", "expiry_timestamp_ms").is_(Ref("created", issued, usual)),
        ),
        config=sasl(case.release),
    )


@claim("tokens.renewers-are-users", evidence=("KIP-48",), api="CreateDelegationToken",
       versions=only("CreateDelegationToken", LATEST), releases=RELEASES)  # fmt: skip
def test_renewers_are_users(case):
    """CreateDelegationToken answers INVALID_PRINCIPAL_TYPE where one of two renewers is no User."""
    rows = [*users(RENEWER), {"principal_type": "Group", "principal_name": "group"}]
    body = {"renewers": rows, "max_lifetime_ms": -1}
    return case.scenario(
        signed_in(OWNER),
        Ask("CreateDelegationToken", case.version, body, "created", OWNER),
        expect=answer("created", "error_code").is_(ErrorCode.INVALID_PRINCIPAL_TYPE),
        config=sasl(case.release),
    )


@claim("tokens.owner-and-renewers-renew", evidence=("KIP-48",), api="RenewDelegationToken",
       versions=only("RenewDelegationToken", LATEST), releases=RELEASES,
       user=(OWNER, RENEWER, STRANGER))  # fmt: skip
def test_owner_and_renewers_renew(case):
    """A token's owner and its renewers renew it; to others the answer is
    DELEGATION_TOKEN_OWNER_MISMATCH."""
    refused = case.user == STRANGER
    code = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH if refused else NONE
    return case.scenario(
        signed_in(OWNER),
        created(renewers=(RENEWER,)),
        known(),
        signed_in(case.user, "renewing"),
        renewed("renewing", HOUR, version=case.version),
        expect=answer("renewed", "error_code").is_(code),
        config=sasl(case.release),
    )


@claim("tokens.owner-and-renewers-expire", evidence=("KIP-48",), api="ExpireDelegationToken",
       versions=only("ExpireDelegationToken", LATEST), releases=RELEASES,
       user=(RENEWER, STRANGER), at_once=(True, False), full=True)  # fmt: skip
def test_owner_and_renewers_expire(case):
    """A renewer may have a token expire, and others may not; neither later, nor at once."""
    refused = case.user == STRANGER
    code = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH if refused else NONE
    return case.scenario(
        signed_in(OWNER),
        created(renewers=(RENEWER,)),
        known(),
        signed_in(case.user, "expiring"),
        expired("expiring", -1 if case.at_once else HOUR, version=case.version),
        expect=answer("expired", "error_code").is_(code),
        config=sasl(case.release),
    )


# A period, and when the token then expires after it was made.
RENEWALS = {"an-hour": (HOUR, HOUR, HOUR), "default": (-1, DAY, DAY), "long": (30 * DAY, WEEK, DAY)}


@claim("tokens.a-renewal-counts-from-now", evidence=("KIP-48",), api="RenewDelegationToken",
       versions=only("RenewDelegationToken", LATEST), releases=RELEASES,
       period=tuple(RENEWALS))  # fmt: skip
def test_a_renewal_counts_from_now(case):
    """A renewed token expires so long after now as is asked for, by default after
    delegation.token.expiry.time.ms; not after its life, and in KRaft not later than the default."""
    period, later, in_kraft = RENEWALS[case.period]
    expires = "expiry_timestamp_ms"
    return case.scenario(
        signed_in(OWNER),
        created(),
        known(),
        renewed(OWNER, period, version=case.version),
        expect=all_of(
            answer("renewed", "error_code").is_(NONE),
            by_release(
                {
                    "2.8": begins_with("renewed", expires, later),
                    "3.9+": begins_with("renewed", expires, in_kraft),
                }
            ),
        ),
        config=sasl(case.release),
    )


@claim("tokens.an-expiry-may-be-moved", evidence=("KIP-48",), api="ExpireDelegationToken",
       versions=only("ExpireDelegationToken", LATEST), releases=RELEASES)  # fmt: skip
def test_an_expiry_may_be_moved(case):
    """ExpireDelegationToken with a period has the token expire so long after now; it is not gone,
    and may be renewed."""
    return case.scenario(
        signed_in(OWNER),
        created(),
        known(),
        expired(OWNER, HOUR, version=case.version),
        renewed(OWNER, -1),
        expect=all_of(
            begins_with("expired", "expiry_timestamp_ms", HOUR),
            answer("renewed", "error_code").is_(NONE),
            begins_with("renewed", "expiry_timestamp_ms", DAY),
        ),
        config=sasl(case.release),
    )


@claim("tokens.what-expires-at-once-is-gone", evidence=("KIP-48",), api="ExpireDelegationToken",
       versions=only("ExpireDelegationToken", LATEST), releases=RELEASES)  # fmt: skip
def test_what_expires_at_once_is_gone(case):
    """ExpireDelegationToken with a negative period removes the token: it is not told any more, and
    to renew it is DELEGATION_TOKEN_NOT_FOUND."""
    again = renewed(OWNER, -1)
    return case.scenario(
        signed_in(OWNER),
        created(),
        known(),
        expired(OWNER, -1, version=case.version),
        Until(again, "error_code", "==", ErrorCode.DELEGATION_TOKEN_NOT_FOUND),
        Ask("DescribeDelegationToken", LATEST, {"owners": users(OWNER)}, "listed", OWNER),
        expect=all_of(
            answer("expired", "error_code").is_(NONE),
            answer("listed", "tokens[*].hmac").lacks(Ref("created", "hmac")),
        ),
        config=sasl(case.release),
    )


@claim("tokens.owners-narrow-what-is-told", evidence=("KIP-48",), api="DescribeDelegationToken",
       versions=only("DescribeDelegationToken", LATEST), releases=RELEASES,
       of=(OWNER, RENEWER, STRANGER, "nobody"))  # fmt: skip
def test_owners_narrow_what_is_told(case):
    """DescribeDelegationToken of a user tells the tokens that this user owns or may renew, and not
    those of others; of no user at all it tells none."""
    rows = [] if case.of == "nobody" else users(case.of)
    asked = Ask("DescribeDelegationToken", case.version, {"owners": rows}, "asked", OWNER)
    concerned = case.of in (OWNER, RENEWER)
    return case.scenario(
        signed_in(OWNER),
        created(renewers=(RENEWER,)),
        known(),
        asked,
        expect=answer("asked", "tokens").has_length(int(concerned)),
        config=sasl(case.release),
    )
