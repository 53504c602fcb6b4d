"""Client quotas as settings: who may have which, how they change, how they are told.

Sources: ZkAdminManager.alterClientQuotas (2.8.2), ClientQuotaControlManager (3.9.2, 4.3.1),
KIP-546, KIP-612; clause DYN-16.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Until
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.quotas import CONSUMER, PRODUCER, alter, describe, of_client

CODE = "entries[0].error_code"
ENTRIES, VALUES = "entries", "entries[0].values"
ALTER = {"api": "AlterClientQuotas", "releases": "2.8+"}
DESCRIBE = {"api": "DescribeClientQuotas", "releases": "2.8+"}


@claim("quotas.what-is-set-is-told", evidence=("DYN-16", "KIP-546"), **ALTER)
def test_what_is_set_is_told(case):
    """AlterClientQuotas sets, changes and removes quotas of a client id, and DescribeClientQuotas
    returns them."""
    who = of_client(case.group("client"))
    return case.scenario(
        alter(who, {PRODUCER: 1000, CONSUMER: 2000}, version=case.version, name="set"),
        Until(describe(who, name="both"), VALUES, "len ==", 2),
        alter(who, {PRODUCER: 3000, CONSUMER: None}, version=case.version, name="change"),
        Until(describe(who, name="one"), VALUES, "len ==", 1),
        alter(who, {PRODUCER: None}, version=case.version, name="remove"),
        Until(describe(who, name="none"), ENTRIES, "len ==", 0),
        expect=all_of(
            *(answer(name, CODE).is_(ErrorCode.NONE) for name in ("set", "change", "remove")),
            answer("both", VALUES).contains({"key": PRODUCER, "value": 1000.0}),
            answer("both", VALUES).contains({"key": CONSUMER, "value": 2000.0}),
            answer("one", VALUES).is_([{"key": PRODUCER, "value": 3000.0}]),
            answer("none", ENTRIES).is_([]),
        ),
    )


@claim("quotas.filters-may-be-strict", evidence=("KIP-546",), **DESCRIBE)
def test_filters_may_be_strict(case):
    """DescribeClientQuotas with strict=true returns entities of exactly the types of the filter;
    without it those with further types, too."""
    client, user = case.group("client"), case.group("user")
    pair, alone = of_client(client, user), of_client(client)
    how = {"version": case.version}
    return case.scenario(
        alter(pair, {PRODUCER: 1000}, name="pair"),
        Until(describe(pair, name="pair shown"), ENTRIES, "len ==", 1),
        describe(alone, name="strict", **how),
        describe(alone, strict=False, name="not strict", **how),
        describe(pair, name="both", **how),
        expect=all_of(
            answer("strict", ENTRIES).is_([]),
            answer("not strict", ENTRIES).has_length(1),
            answer("both", ENTRIES).has_length(1),
        ),
    )


@claim("quotas.a-default-is-an-entity", evidence=("DYN-16", "KIP-546"), **ALTER)
def test_a_default_is_an_entity(case):
    """AlterClientQuotas sets a quota for the default client id of a user, which
    DescribeClientQuotas returns with a null name."""
    who = of_client(None, case.group("user"))
    return case.scenario(
        alter(who, {PRODUCER: 1000}, version=case.version),
        Until(describe(who), ENTRIES, "len ==", 1),
        expect=all_of(
            answer("alter", CODE).is_(ErrorCode.NONE),
            answer("described", "entries[0].entity[*].entity_name").contains(None),
        ),
    )


@claim("quotas.a-rehearsal-sets-nothing", evidence=("KIP-546",), **ALTER)
def test_a_rehearsal_sets_nothing(case):
    """AlterClientQuotas with validate_only answers no error and sets nothing."""
    who = of_client(case.group("client"))
    return case.scenario(
        alter(who, {PRODUCER: 1000}, version=case.version, validate_only=True),
        describe(who),
        expect=all_of(
            answer("alter", CODE).is_(ErrorCode.NONE), answer("described", ENTRIES).is_([])
        ),
    )


IMPOSSIBLE = {
    "unknown key": ({"client-id": "c"}, {"no.such.rate": 1}),
    "no entity": ({}, {PRODUCER: 1000}),
    "unknown type": ({"planet": "c"}, {PRODUCER: 1000}),
    "empty name": ({"client-id": ""}, {PRODUCER: 1000}),
    "half a byte": ({"client-id": "c"}, {PRODUCER: 1000.5}),
    "negative": ({"client-id": "c"}, {PRODUCER: -1}),
    "address and client": ({"ip": "127.0.0.1", "client-id": "c"}, {PRODUCER: 1000}),
    "rate of an address": ({"ip": "127.0.0.1"}, {PRODUCER: 1000}),
}


@claim("quotas.impossible-ones-are-refused", evidence=("DYN-16", "KIP-546", "KIP-612"),
       what=tuple(IMPOSSIBLE), **ALTER)  # fmt: skip
def test_impossible_ones_are_refused(case):
    """AlterClientQuotas answers INVALID_REQUEST for an unknown key, an unknown or invalid entity,
    and a value that is no rate."""
    who, changes = IMPOSSIBLE[case.what]
    return case.scenario(
        alter(who, changes, version=case.version),
        expect=answer("alter", CODE).is_(ErrorCode.INVALID_REQUEST),
    )


@claim("quotas.any-key-may-be-removed", evidence=("KIP-546", "observed on 4.3.1"), **ALTER)
def test_any_key_may_be_removed(case):
    """AlterClientQuotas that removes a quota that was never set, or an unknown key, answers no
    error."""
    who = of_client(case.group("client"))
    return case.scenario(
        alter(who, {PRODUCER: None, "no.such.rate": None}, version=case.version),
        describe(who),
        expect=all_of(
            answer("alter", CODE).is_(ErrorCode.NONE), answer("described", ENTRIES).is_([])
        ),
    )
