"""Random sets of ACLs, and random requests under each: Kafka decides, and we decide alike.

Patterns, principals, hosts, operations and permissions are drawn from what is about the names that
requests name and from what is not. TOUCHSTONE_ACL_SETS says how many sets (20), each asked 100
requests. A set never denies the admin anything.
"""

from __future__ import annotations

import os
import random

import pytest

from touchstone.harness.tests.acls import comparing
from touchstone.harness.tests.acls.peers import STRANGER, Grant
from touchstone.harness.tests.acls.rights import OPERATIONS
from touchstone.reference_impl.cluster.acls import CLUSTER_NAME, Operation, PatternType, Permission
from touchstone.reference_impl.cluster.acls import ResourceType as Kind

pytestmark = [pytest.mark.live, pytest.mark.java, pytest.mark.maven, pytest.mark.slow,
              pytest.mark.timeout(3600)]  # fmt: skip
SETS, REQUESTS = int(os.environ.get("TOUCHSTONE_ACL_SETS", "20")), 100
NAMES = ("open", "shut", "open-none", "shut-none", "open-doomed", "*", "o", "open-", "sh", "x")
HOSTS = (STRANGER, STRANGER, STRANGER, "*", "127.0.0.9")
PRINCIPALS = ("User:ANONYMOUS", "User:ANONYMOUS", "User:*", "User:somebody")
MOST = 12  # ACLs of a set


def drawn(chance: random.Random, *, prefixes: bool) -> Grant:
    kind = chance.choice([*OPERATIONS, Kind.TOPIC, Kind.CLUSTER])
    operation = chance.choice([*OPERATIONS[kind], Operation.ALL, Operation.DESCRIBE])
    permission = chance.choice([Permission.ALLOW, Permission.ALLOW, Permission.DENY])
    pattern = PatternType.LITERAL
    name = CLUSTER_NAME
    if kind != Kind.CLUSTER:
        name = chance.choice(NAMES)
        if prefixes and chance.random() < 0.3:
            pattern = PatternType.PREFIXED
    host = chance.choice(HOSTS)
    if permission == Permission.DENY and host == "*":
        host = STRANGER
    return Grant(kind, name, operation, permission, pattern, host, chance.choice(PRINCIPALS))


@pytest.mark.parametrize("release", ["1.0", "2.8", "4.3"])
def test_decisions_equal_those_of_real_kafka(release):
    chance = random.Random(release)
    asked = list(comparing.questions(release))
    with comparing.brokers(release) as brokers:
        apart = []
        for number in range(SETS):
            count = chance.randrange(1, MOST)
            grants = {drawn(chance, prefixes=release != "1.0") for _ in range(count)}
            for each in brokers:
                each.grant(grants)
            for question in chance.choices(asked, k=REQUESTS):
                if found := comparing.differences(question, brokers):
                    apart.append((number, sorted(grants), str(question), found))
    assert apart == []
