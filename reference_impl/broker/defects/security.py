"""Defects of listeners with SASL or TLS, and of the authorizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.configs.listener_changes import ListenerChanges
from touchstone.reference_impl.broker.defects.planting import (
    ANY,
    defect,
    handler_defect,
    plant,
    setting,
)
from touchstone.reference_impl.broker.effects import Connection, Effect, Principal, Request
from touchstone.reference_impl.broker.security.acls.access_control import AccessControl
from touchstone.reference_impl.broker.security.acls.authorizer import ANYBODY, Authorizer
from touchstone.reference_impl.broker.security.authenticator import (
    SaslAuthenticator,
    SaslListeners,
    _kind,
)
from touchstone.reference_impl.broker.security.listener_keys import ListenerKeys
from touchstone.reference_impl.broker.security.mechanism import CredentialsRefused
from touchstone.reference_impl.broker.security.oauthbearer import OAuthBearer
from touchstone.reference_impl.broker.security.plain import Plain
from touchstone.reference_impl.broker.security.sasl_states import Frame, State
from touchstone.reference_impl.broker.security.scram import Account, Scram
from touchstone.reference_impl.broker.security.scram_accounts import ScramAccounts
from touchstone.reference_impl.broker.security.signed_tokens import SignedTokens
from touchstone.reference_impl.cluster.acls import Entry, Operation, PatternType, Permission
from touchstone.reference_impl.cluster.endpoints import PLAINTEXT
from touchstone.reference_impl.wire.errors import ErrorCode

Real = Callable[..., Any]
Body = dict[str, Any]
FETCH, METADATA, HEARTBEAT, LIST_GROUPS, INIT_PRODUCER_ID = 1, 3, 12, 16, 22
WRITE_TXN_MARKERS, DESCRIBE_ACLS, DESCRIBE_CONFIGS = 27, 29, 32
BITS, ALTER_CONFIGS_BIT = "authorized_operations", 1 << Operation.ALTER_CONFIGS
LARGE = 1 << 30
NO_SIGNATURE = b"v=" + b"A" * 43 + b"="


# ------------------------------------------------------------------- who somebody is


@defect(ANY, SaslListeners, "admit")
def authenticators_have_defects(
    real: Real, listeners: SaslListeners, connection: Connection
) -> int:
    most: int = real(connection)
    plant(connection.authenticator, vars(type(listeners))["switches_planted"])
    return most


@defect(ANY, SaslAuthenticator, "_begin")
def exchanges_have_defects(real: Real, one: SaslAuthenticator, *args: Any) -> None:
    real(*args)
    plant(one._exchange, vars(type(one))["switches_planted"])


@defect("sasl-frames-unlimited", SaslListeners, "admit")
def sasl_frames_unlimited(real: Real, _: SaslListeners, connection: Connection) -> int:
    real(connection)
    return LARGE


@defect("sasl-mechanisms-not-named", SaslAuthenticator, "_mechanisms")
def sasl_mechanisms_not_named(
    real: Real, one: SaslAuthenticator, request: Request, code: int
) -> Effect:
    return one._broker.reply(request, {"error_code": code, "mechanisms": []})


@defect("sasl-requests-served-before", SaslAuthenticator, "receive")
def sasl_requests_served_before(
    real: Real, one: SaslAuthenticator, frame: bytes, now: int
) -> Iterable[Effect] | None:
    early = one.state in (State.INITIAL, State.VERSIONS_TOLD)
    return None if early and _kind(frame) is Frame.OTHER else real(frame, now)


@defect("sasl-sessions-outlived", SaslAuthenticator, "receive")
def sasl_sessions_outlived(
    real: Real, one: SaslAuthenticator, frame: bytes, now: int
) -> Iterable[Effect] | None:
    served = one.state is State.COMPLETE and _kind(frame) is Frame.OTHER
    return None if served else real(frame, now)


@defect("sasl-sessions-endless", SaslAuthenticator, "_end_of_session")
def sasl_sessions_endless(*_: Any) -> None:
    return None


@defect("sasl-users-change", SaslAuthenticator, "_complete")
def sasl_users_change(real: Real, one: SaslAuthenticator, principal: Principal, *args: Any) -> None:
    one._known = None
    real(principal, *args)


@defect("sasl-passwords-not-checked", Plain, "evaluate")
def sasl_passwords_not_checked(real: Real, one: Plain, token: bytes, now: int) -> bytes:
    """Any password of a known user is taken."""
    try:
        answer: bytes = real(token, now)
    except CredentialsRefused:
        _, user, password = one._pieces(token)
        if user not in one._passwords or not password:
            raise
        one.user, answer = user, b""
    return answer


@defect("scram-proofs-not-checked", Scram, "_finish")
def scram_proofs_not_checked(real: Real, one: Scram, text: str, first: Any) -> bytes:
    try:
        answer: bytes = real(text, first)
    except CredentialsRefused:
        one.user, answer = first.account.user, NO_SIGNATURE
    return answer


@defect("scram-signature-wrong", Scram, "_finish")
def scram_signature_wrong(real: Real, _: Scram, *args: Any) -> bytes:
    real(*args)
    return NO_SIGNATURE


@defect("scram-changes-unheard", ScramAccounts, "user")
def scram_changes_unheard(real: Real, one: ScramAccounts, name: str) -> Account | None:
    """Who was known once is known for ever, by the first password."""
    kept: dict[str, Account | None] = vars(one).setdefault("kept", {})
    found: Account | None = kept.get(name) or real(name)
    kept[name] = found
    return found


@setting("scram-users-forgotten", ScramAccounts)
def scram_users_of_before(accounts: ScramAccounts) -> None:
    vars(accounts)["forgotten"] = frozenset(accounts._users.users())


@defect("scram-users-forgotten", ScramAccounts, "user")
def scram_users_forgotten(real: Real, one: ScramAccounts, name: str) -> Account | None:
    """Who was there when the broker started is unknown to it."""
    return None if name in vars(one)["forgotten"] else real(name)


@defect("bearer-tokens-not-checked", OAuthBearer, "evaluate")
def bearer_tokens_not_checked(real: Real, one: OAuthBearer, token: bytes, now: int) -> bytes:
    answer: bytes = real(token, now)
    if one.user is None:
        one.user, answer = "anybody", b""
    return answer


@defect("bearer-signatures-not-checked", SignedTokens, "_is_by")
def bearer_signatures_not_checked(*_: Any) -> bool:
    return True


@defect("listener-keys-kept", ListenerKeys, "apply")
def listener_keys_kept(*_: Any) -> None:
    return None


@defect("listener-keys-not-checked", ListenerKeys, "check")
def listener_keys_not_checked(*_: Any) -> None:
    return None


@defect("listener-keys-not-checked", ListenerKeys, "apply")
def unreadable_keys_skipped(real: Real, _: ListenerKeys) -> None:
    with suppress(ValueError):
        real()


@defect("listener-files-not-reread", ListenerKeys, "reread", "_reread_files")
def files_not_reread(*_: Any) -> None:
    return None


@defect("listener-fixed-settings-not-checked", ListenerChanges, "_check_fixed")
def fixed_settings_not_checked(*_: Any) -> None:
    return None


@defect("listener-addresses-not-told", ListenerChanges, "_told")
def addresses_not_told(_: Real, changes: ListenerChanges, endpoint: Any, *args: Any) -> Any:
    return endpoint


@handler_defect("listeners-mixed-up", METADATA)
def listeners_mixed_up(real: Real, _: Broker, request: Request, now: int) -> Any:
    """Who comes by any listener is told of the plain one."""
    there, request.connection.listener = request.connection.listener, PLAINTEXT
    try:
        return real(request, now)
    finally:
        request.connection.listener = there


# --------------------------------------------------------------- what that one may do


def unguarded(switch: str, key: int) -> None:
    """Have the switch let everybody use this API."""

    @defect(switch, AccessControl, "guarded")
    def without_a_guard(real: Real, _: AccessControl, api: int, handle: Real) -> Real:
        guarded: Real = real(api, handle)
        return handle if api == key else guarded


unguarded("reads-unguarded", FETCH)
unguarded("groups-unguarded", HEARTBEAT)
unguarded("forbidden-groups-listed", LIST_GROUPS)
unguarded("transactional-ids-unguarded", INIT_PRODUCER_ID)
unguarded("markers-unguarded", WRITE_TXN_MARKERS)
unguarded("cluster-unguarded", DESCRIBE_ACLS)
unguarded("configs-unguarded", DESCRIBE_CONFIGS)


@defect("forbidden-topics-listed", AccessControl, "guarded")
def forbidden_topics_listed(real: Real, _: AccessControl, api: int, handle: Real) -> Real:
    guarded: Real = real(api, handle)

    def of_all(request: Request, now: int) -> Any:
        every = request.body["topics"] is None or not request.body["topics"]
        return (handle if every else guarded)(request, now)

    return of_all if api == METADATA else guarded


@defect("unknown-topics-told", AccessControl, "guarded")
def unknown_topics_told(real: Real, control: AccessControl, api: int, handle: Real) -> Real:
    guarded: Real = real(api, handle)

    def told(request: Request, now: int) -> Any:
        answer = guarded(request, now)
        for row in answer["topics"]:
            refused = row["error_code"] == ErrorCode.TOPIC_AUTHORIZATION_FAILED
            if refused and row["name"] not in control._broker.metadata.topics:
                row["error_code"] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return answer

    return told if api == METADATA else guarded


@defect("all-operations-told", AccessControl, "guarded")
def all_operations_told(real: Real, _: AccessControl, api: int, handle: Real) -> Real:
    """One more than is allowed."""
    guarded: Real = real(api, handle)

    def told(request: Request, now: int) -> Any:
        answer = guarded(request, now)
        _add_bit(answer)
        return answer

    return told


def _add_bit(value: Any) -> None:
    for inner in value if isinstance(value, list) else ():
        _add_bit(inner)
    for name, inner in value.items() if isinstance(value, dict) else ():
        if name.endswith(BITS) and inner >= 0:
            value[name] = inner | ALTER_CONFIGS_BIT
        _add_bit(inner)


@defect("deleted-acls-kept", AccessControl, "remove")
def deleted_acls_kept(*_: Any) -> None:
    """They are told as deleted, and stay."""


@handler_defect("patterns-mixed-up", DESCRIBE_ACLS)
def patterns_mixed_up(real: Real, _: Broker, request: Request, now: int) -> Any:
    if request.body["pattern_type_filter"] == PatternType.PREFIXED:
        request.body["pattern_type_filter"] = PatternType.ANY
    return real(request, now)


@setting("super-users-few", Authorizer)
def super_users_few(authorizer: Authorizer) -> None:
    """Only the first of them is one."""
    supers = frozenset(sorted(authorizer._settings.super_users)[:1])
    authorizer._settings = authorizer._settings._replace(super_users=supers)


@setting("nobody-without-an-acl", Authorizer)
def nobody_without_an_acl(authorizer: Authorizer) -> None:
    authorizer._settings = authorizer._settings._replace(allow_everyone=False)


Decide = Callable[[str, str, int, int, str], bool]


@defect("denials-ignored", Authorizer, "_decide")
def denials_ignored(
    real: Decide, one: Authorizer, principal: str, host: str, operation: int, kind: int, name: str
) -> bool:
    return real(principal, host, operation, kind, name) or any(
        entry.permission == Permission.ALLOW
        and entry.principal == principal
        and entry.operation in (operation, Operation.ALL)
        for entry in one._acls.about(kind, name)
    )


@defect("hosts-ignored", Authorizer, "_decide")
def hosts_ignored(
    real: Decide, one: Authorizer, principal: str, host: str, operation: int, kind: int, name: str
) -> bool:
    hosts = {host, *(entry.host for entry in one._acls.about(kind, name))}
    return any(real(principal, each, operation, kind, name) for each in hosts)


@defect("everybody-is-nobody", Authorizer, "_decide")
def everybody_is_nobody(
    real: Decide, one: Authorizer, principal: str, host: str, operation: int, kind: int, name: str
) -> bool:
    """Only ACLs that name the user allow anything."""
    return real(principal, host, operation, kind, name) and not _all_are(
        one, kind, name, lambda entry: entry.principal == ANYBODY
    )


@defect("nothing-implied", Authorizer, "_decide")
def nothing_implied(
    real: Decide, one: Authorizer, principal: str, host: str, operation: int, kind: int, name: str
) -> bool:
    return real(principal, host, operation, kind, name) and not _all_are(
        one, kind, name, lambda entry: entry.operation not in (operation, Operation.ALL)
    )


def _all_are(one: Authorizer, kind: int, name: str, what: Callable[[Entry], bool]) -> bool:
    """Whether there are ACLs about the resource, and all are so."""
    found = list(one._acls.about(kind, name))
    return bool(found) and all(map(what, found))


@defect("prefixes-ignored", Authorizer, "_decide")
def prefixes_ignored(
    real: Decide, one: Authorizer, principal: str, host: str, operation: int, kind: int, name: str
) -> bool:
    prefixed = any(
        pattern.type == PatternType.PREFIXED
        and pattern.resource_type == kind
        and entry.principal == principal
        for pattern, entry in one._acls
    )
    return real(principal, host, operation, kind, name) and not prefixed
