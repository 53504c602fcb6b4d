"""Delegation tokens at work: who holds one logs in by it, and what bounds its life.

A token's name is its id and its password its hmac, in base64, by SCRAM with the extension
`tokenauth=true`.

Sources: ScramSaslServer, DelegationTokenManager at 2.8.2, DelegationTokenControlManager at 3.9.2
and 4.3.1; KIP-48, KIP-373.
"""

from dataclasses import replace

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, answered
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.security_settings import SCRAM
from touchstone.harness.model.steps import metadata
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.scram import all_messages
from touchstone.suites.kit.security import at_sasl, sasl
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
    users,
)

SINCE = "3.9+"  # tried there
FOR_OTHERS = 3  # the first version in which a token may be another user's
NONE, FAILED = ErrorCode.NONE, ErrorCode.SASL_AUTHENTICATION_FAILED
TOKEN, HMAC = Ref("created", "token_id"), Ref("created", "hmac")


def logs_in(connection, mechanism=SCRAM[0], *, user=TOKEN, password=HMAC, **how):
    """All that the holder of a token says; the last answer is named after the connection."""
    how = {"extensions": ",tokenauth=true", "name": connection} | how
    return [at_sasl(connection), all_messages(connection, mechanism, user, password, **how)]


@claim("tokens.a-token-logs-in", evidence=("KIP-48",), api="SaslAuthenticate",
       versions=only("SaslAuthenticate", 0), releases=SINCE, mechanism=SCRAM)  # fmt: skip
def test_a_tokenlogs_in(case):
    """A client that proves a token's hmac is let in, and cannot make, renew or tell tokens on that
    connection."""
    code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    body = {"renewers": [], "max_lifetime_ms": -1}
    return case.scenario(
        signed_in(OWNER),
        created(),
        known(),
        logs_in("holder", case.mechanism),
        metadata(connection="holder", name="after"),
        Ask("CreateDelegationToken", LATEST, body, "another", "holder"),
        renewed("holder", -1),
        Ask("DescribeDelegationToken", LATEST, {"owners": users(OWNER)}, "told", "holder"),
        expect=all_of(
            answer("holder", "error_code").is_(NONE),
            answered("after"),
            *[answer(step, "error_code").is_(code) for step in ("another", "renewed", "told")],
        ),
        config=sasl(case.release),
    )


WRONG = ("password", "no-extension", "id")


@claim("tokens.a-token-needs-its-own-secret", evidence=("KIP-48",), api="SaslAuthenticate",
       versions=only("SaslAuthenticate", 0), releases=SINCE, wrong=WRONG)  # fmt: skip
def test_a_token_needs_its_own_secret(case):
    """A login by a token is refused with another secret, with another id, and without the
    extension that says it is a token's."""
    how = {
        "password": {"password": b"another"},
        "no-extension": {"extensions": ""},
        "id": {"user": "nobody"},
    }[case.wrong]
    refused_at = "holder" if case.wrong == "password" else "holder challenge"
    return case.scenario(
        signed_in(OWNER),
        created(),
        known(),
        logs_in("holder", **how),
        expect=answer(refused_at, "error_code").is_(FAILED),
        config=sasl(case.release),
    )


@claim("tokens.a-token-that-is-gone-logs-in-no-more", evidence=("KIP-48",),
       api="ExpireDelegationToken", versions=only("ExpireDelegationToken", LATEST),
       releases=SINCE)  # fmt: skip
def test_a_token_that_is_gone_logs_in_no_more(case):
    """After ExpireDelegationToken with a negative period the token lets nobody in, also where it
    had let somebody in before."""
    again = renewed(OWNER, -1)
    return case.scenario(
        signed_in(OWNER),
        created(),
        known(),
        logs_in("before"),
        expired(OWNER, -1, version=case.version),
        Until(again, "error_code", "==", ErrorCode.DELEGATION_TOKEN_NOT_FOUND),
        logs_in("late"),
        expect=all_of(
            answer("before", "error_code").is_(NONE),
            answer("late challenge", "error_code").is_(FAILED),
        ),
        config=sasl(case.release),
    )


@claim("tokens.nothing-outlasts-a-tokens-life", evidence=("KIP-48",),
       api="RenewDelegationToken", versions=only("RenewDelegationToken", LATEST),
       releases=SINCE)  # fmt: skip
def test_nothing_outlasts_a_tokens_life(case):
    """A token with a life of an hour that is renewed, by default or for two hours, or is to expire
    in two, expires with its life."""
    asked = {
        "for two hours": renewed(OWNER, 2 * HOUR, version=case.version),
        "by default": renewed(OWNER, -1, version=case.version),
        "in two hours": expired(OWNER, 2 * HOUR),
    }
    return case.scenario(
        signed_in(OWNER),
        created(lifetime=HOUR),
        known(),
        [replace(step, name=name) for name, step in asked.items()],
        expect=all_of(
            *[answer(name, "error_code").is_(NONE) for name in asked],
            *[
                answer(name, "expiry_timestamp_ms").is_(Ref("created", "max_timestamp_ms"))
                for name in asked
            ],
        ),
        config=sasl(case.release),
    )


@claim("tokens.who-made-a-token-for-another", evidence=("KIP-373",),
       api="CreateDelegationToken", versions=only("CreateDelegationToken", FOR_OTHERS),
       releases="3.9+")  # fmt: skip
def test_who_made_a_token_for_another(case):
    """A token that one user creates for another belongs to the other: DescribeDelegationToken of
    either of them returns it, and the one who created it may not renew it."""
    [renewer] = users(RENEWER)
    body = {
        "owner_principal_type": "User",
        "owner_principal_name": renewer["principal_name"],
        "renewers": [],
        "max_lifetime_ms": -1,
    }
    asked = {"owners": users(RENEWER)}
    told = Ask("DescribeDelegationToken", FOR_OTHERS, asked, "known", OWNER)
    return case.scenario(
        signed_in(OWNER),
        Ask("CreateDelegationToken", case.version, body, "created", OWNER),
        Until(told, "tokens[*].hmac", "contains", HMAC),
        [
            Ask("DescribeDelegationToken", FOR_OTHERS, {"owners": users(who)}, f"of {who}", OWNER)
            for who in (OWNER, STRANGER)
        ],
        renewed(OWNER, HOUR),
        expect=all_of(
            answer("created", "principal_name").is_(renewer["principal_name"]),
            answer("known", "tokens[0].token_requester_principal_name").is_(
                users(OWNER)[0]["principal_name"]
            ),
            answer(f"of {OWNER}", "tokens").has_length(1),
            answer(f"of {STRANGER}", "tokens").has_length(0),
            answer("renewed", "error_code").is_(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH),
        ),
        config=sasl(case.release),
    )
