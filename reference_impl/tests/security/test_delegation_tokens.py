"""Delegation tokens outlive a restart, and go when their scan finds them expired."""

import json
import random

import pytest

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.effects import Connection, Principal
from touchstone.reference_impl.broker.security.scram_accounts import ScramAccounts
from touchstone.reference_impl.broker.security.token_secrets import secret_of
from touchstone.reference_impl.broker.security.tokens import SCAN, TokenRequests
from touchstone.reference_impl.cluster import image
from touchstone.reference_impl.cluster.acls import Operation, ResourceType
from touchstone.reference_impl.cluster.client_settings import ClientSettings
from touchstone.reference_impl.cluster.delegation_tokens import DelegationToken, DelegationTokens
from touchstone.reference_impl.cluster.topology import Cluster, Node
from touchstone.reference_impl.tests.security.conversations import SASL
from touchstone.reference_impl.tests.security.test_recorded import CoreWire, core
from touchstone.reference_impl.tests.security.token_requests import SETTINGS, Asking
from touchstone.reference_impl.wire.errors import ErrorCode

ALICE = ("User", "alice")
TOKEN = DelegationToken("id", ALICE, ("User", "bob"), (("User", "carol"),), 1, 3, 2)


def test_a_cluster_on_disk_keeps_them():
    one, other = (Cluster([Node(0, "h", 1)], random=random.Random(1)) for _ in range(2))
    one.delegation_tokens.put(TOKEN)
    image.restore(other, json.loads(json.dumps(image.image_of(one))))
    assert [*other.delegation_tokens] == [TOKEN]


def test_a_secret_follows_from_the_id_and_the_key():
    """HMAC-SHA-512, as clients of 2.2.1 to 4.3.1 were let in with (`recorded/tokens-*.json`)."""
    assert len(secret_of("id", "secret")) == 64
    assert secret_of("id", "secret") != secret_of("id", "other") != secret_of("di", "other")


def test_expired_tokens_go_when_their_scan_is_due():
    made = core("4.3", SETTINGS | {SCAN: "5000"})
    requests = made.brokers[0].room(TokenRequests)
    connection = Connection(1, listener=SASL)
    connection.authenticated(Principal(*ALICE))
    requests.create(connection, None, [], 1000, made.now)
    told = [requests.describe(connection, None, made.now + ms) for ms in (0, 1500, 5000)]
    assert [len(each) for each in told] == [1, 1, 0]


class Allowed:
    """May do exactly these: (operation, resource type, name)."""

    def __init__(self, *may):
        self._may = may

    def may(self, operation, kind, name):
        return (operation, kind, name) in self._may


def test_an_authorizer_says_whose_tokens_one_sees():
    made = core("4.3", SETTINGS)
    requests = made.brokers[0].room(TokenRequests)
    alice, bob = (Connection(number, listener=SASL) for number in (1, 2))
    alice.authenticated(Principal(*ALICE))
    bob.authenticated(Principal("User", "bob"))
    token, _ = requests.create(alice, None, [], -1, made.now)

    def seen(connection, access):
        return [each.id for each, _ in requests.describe(connection, None, made.now, access)]

    assert seen(bob, None) == [token.id] == seen(alice, Allowed())
    assert seen(bob, Allowed()) == []
    by_token = Operation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.id
    by_owner = Operation.DESCRIBE_TOKENS, ResourceType.USER, "User:alice"
    assert seen(bob, Allowed(by_token)) == [token.id] == seen(bob, Allowed(by_owner))


def test_an_authorizer_says_who_makes_tokens_of_others():
    made = core("4.3", SETTINGS)
    requests = made.brokers[0].room(TokenRequests)
    bob = Connection(2, listener=SASL)
    bob.authenticated(Principal("User", "bob"))
    with pytest.raises(ApiError) as refused:
        requests.create(bob, ALICE, [], -1, made.now, Allowed())
    assert refused.value.code == ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    may = Allowed((Operation.CREATE_TOKENS, ResourceType.USER, "User:alice"))
    token, _ = requests.create(bob, ALICE, [], -1, made.now, may)
    assert (token.owner, token.requester) == (ALICE, ("User", "bob"))


def test_a_credential_of_a_token_goes_with_it():
    tokens = DelegationTokens()
    tokens.put(TOKEN)
    accounts = ScramAccounts("SCRAM-SHA-256", ClientSettings(), tokens, "secret")
    first = accounts.token("id")
    assert first.user == "alice" and accounts.token("id").credential is first.credential
    tokens.remove("id")
    assert accounts.token("id") is None


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_an_owner_without_a_type_is_a_null_that_is_met(release):
    """Seen on 3.9.2 and 4.3.1, over PLAINTEXT: who asks is named, and the times are -1."""
    made = core(release)
    peer = Asking(lambda listener: CoreWire(made, listener, 1), release).peer("nobody")
    body = {"renewers": [], "max_lifetime_ms": 0, "owner_principal_type": None}
    half, whole = (
        peer.ask("CreateDelegationToken", 3, body | owner)
        for owner in (
            {"owner_principal_name": "x"},
            {"owner_principal_type": "User", "owner_principal_name": "x"},
        )
    )
    assert (half["error_code"], half["principal_name"]) == (-1, "ANONYMOUS")
    assert {half[name] for name in half if name.endswith("timestamp_ms")} == {-1}
    assert (whole["error_code"], whole["principal_name"]) == (64, "x")
