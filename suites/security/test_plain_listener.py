"""What a broker without authentication and without an authorizer says to questions about either.

Every client is User:ANONYMOUS there. It cannot begin to authenticate, because that was over before
its first request; there is nobody who could keep ACLs; and delegation tokens are only for those who
proved who they are.

Sources: SaslHandshakeRequest in KafkaApis.scala (1.0.2 to 4.3.1), AclApis, DelegationTokenManager;
KIP-43, KIP-48, KIP-140, KIP-152; clauses SEC-04, SEC-05.
"""

from typing import Any

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import metadata
from touchstone.reference_impl.wire.errors import ErrorCode

ANY, TOPIC, LITERAL = 1, 2, 3
READ, ALLOW = 3, 3


@claim(
    "security.no-handshake-on-a-plain-listener",
    evidence=("SEC-04", "KIP-43"),
    api="SaslHandshake",
    versions=every("SaslHandshake"),
    capabilities=("anonymous-clients",),
    switches=("any-handshake-welcome",),
    mechanism=("PLAIN", "SCRAM-SHA-256", "GSSAPI", ""),
)
def test_no_handshake_on_a_plain_listener(case):
    """SaslHandshake on a listener without SASL answers ILLEGAL_SASL_STATE."""
    return case.scenario(
        Ask("SaslHandshake", case.version, {"mechanism": case.mechanism}, "handshake"),
        metadata(name="after"),
        expect=answer("handshake", "error_code").is_(ErrorCode.ILLEGAL_SASL_STATE),
    )


@claim(
    "security.no-authentication-on-a-plain-listener",
    evidence=("SEC-04", "KIP-152"),
    api="SaslAuthenticate",
    versions=every("SaslAuthenticate"),
    capabilities=("anonymous-clients",),
    token=(b"", b"\0user\0password"),
)
def test_no_authentication_on_a_plain_listener(case):
    """SaslAuthenticate on a listener without SASL answers ILLEGAL_SASL_STATE."""
    return case.scenario(
        Ask("SaslAuthenticate", case.version, {"auth_bytes": case.token}, "authenticate"),
        metadata(name="after"),
        expect=answer("authenticate", "error_code").is_(ErrorCode.ILLEGAL_SASL_STATE),
    )


def _filter(kind: int, name: Any) -> dict[str, Any]:
    return {
        "resource_type_filter": kind,
        "resource_name_filter": name,
        "pattern_type_filter": LITERAL,
        "principal_filter": None,
        "host_filter": None,
        "operation": ANY,
        "permission_type": ANY,
    }


@claim(
    "security.acls-are-not-told-without-an-authorizer",
    evidence=("SEC-05", "KIP-140"),
    api="DescribeAcls",
    versions=every("DescribeAcls"),
    switches=("no-authorizer-no-acls",),
    kind=(ANY, TOPIC),
)
def test_acls_are_not_told_without_an_authorizer(case):
    """DescribeAcls answers SECURITY_DISABLED on a broker without an authorizer, whatever the
    filter."""
    name = None if case.kind == ANY else case.topic()
    return case.scenario(
        Ask("DescribeAcls", case.version, _filter(case.kind, name), "acls"),
        expect=all_of(
            answer("acls", "error_code").is_(ErrorCode.SECURITY_DISABLED),
            answer("acls", "resources").is_([]),
        ),
    )


@claim(
    "security.acls-are-not-made-without-an-authorizer",
    evidence=("SEC-05", "KIP-140"),
    api="CreateAcls",
    versions=every("CreateAcls"),
    rows=(0, 1, 2),
)
def test_acls_are_not_made_without_an_authorizer(case):
    """CreateAcls answers SECURITY_DISABLED for each entry on a broker without an authorizer."""
    entry = {
        "resource_type": TOPIC,
        "resource_name": case.topic(),
        "resource_pattern_type": LITERAL,
        "principal": "User:ANONYMOUS",
        "host": "*",
        "operation": READ,
        "permission_type": ALLOW,
    }
    return case.scenario(
        Ask("CreateAcls", case.version, {"creations": [entry] * case.rows}, "create"),
        expect=answer("create", "results[*].error_code").is_(
            [ErrorCode.SECURITY_DISABLED] * case.rows
        ),
    )


@claim(
    "security.acls-are-not-deleted-without-an-authorizer",
    evidence=("SEC-05", "KIP-140"),
    api="DeleteAcls",
    versions=every("DeleteAcls"),
    rows=(0, 1, 2),
)
def test_acls_are_not_deleted_without_an_authorizer(case):
    """DeleteAcls answers SECURITY_DISABLED for each filter on a broker without an authorizer."""
    filters = [_filter(TOPIC, case.topic())] * case.rows
    return case.scenario(
        Ask("DeleteAcls", case.version, {"filters": filters}, "delete"),
        expect=answer("delete", "filter_results[*].error_code").is_(
            [ErrorCode.SECURITY_DISABLED] * case.rows
        ),
    )


@claim(
    "security.tokens-are-not-made-for-strangers",
    evidence=("KIP-48", "KIP-373"),
    api="CreateDelegationToken",
    versions=every("CreateDelegationToken"),
    capabilities=("anonymous-clients",),
    renewers=(0, 1),
)
def test_tokens_are_not_made_for_strangers(case):
    """CreateDelegationToken of an unauthenticated client answers
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED."""
    renewer = {"principal_type": "User", "principal_name": "somebody"}
    body = {
        "owner_principal_type": None,
        "owner_principal_name": None,
        "renewers": [renewer] * case.renewers,
        "max_lifetime_ms": -1,
    }
    return case.scenario(
        Ask("CreateDelegationToken", case.version, body, "create"),
        expect=answer("create", "error_code").is_(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
    )


@claim(
    "security.tokens-are-not-renewed-for-strangers",
    evidence=("KIP-48",),
    api="RenewDelegationToken",
    versions=every("RenewDelegationToken"),
    capabilities=("anonymous-clients",),
)
def test_tokens_are_not_renewed_for_strangers(case):
    """RenewDelegationToken of an unauthenticated client answers
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED."""
    body = {"hmac": b"no such token", "renew_period_ms": 1000}
    return case.scenario(
        Ask("RenewDelegationToken", case.version, body, "renew"),
        expect=answer("renew", "error_code").is_(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
    )


@claim(
    "security.tokens-are-not-expired-by-strangers",
    evidence=("KIP-48",),
    api="ExpireDelegationToken",
    versions=every("ExpireDelegationToken"),
    capabilities=("anonymous-clients",),
)
def test_tokens_are_not_expired_by_strangers(case):
    """ExpireDelegationToken of an unauthenticated client answers
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED."""
    body = {"hmac": b"no such token", "expiry_time_period_ms": -1}
    return case.scenario(
        Ask("ExpireDelegationToken", case.version, body, "expire"),
        expect=answer("expire", "error_code").is_(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
    )


@claim(
    "security.tokens-are-not-told-to-strangers",
    evidence=("KIP-48",),
    api="DescribeDelegationToken",
    versions=every("DescribeDelegationToken"),
    capabilities=("anonymous-clients",),
    owners=("all", "none", "one"),
)
def test_tokens_are_not_told_to_strangers(case):
    """DescribeDelegationToken of an unauthenticated client answers
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, whatever owners it names."""
    one = {"principal_type": "User", "principal_name": "ANONYMOUS"}
    owners = {"all": None, "none": [], "one": [one]}[case.owners]
    return case.scenario(
        Ask("DescribeDelegationToken", case.version, {"owners": owners}, "tokens"),
        expect=answer("tokens", "error_code").is_(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
    )
