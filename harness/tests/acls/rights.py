"""What the stranger may do, one set of ACLs each."""

from __future__ import annotations

from collections.abc import Mapping

from touchstone.harness.tests.acls.peers import Grant
from touchstone.reference_impl.cluster.acls import CLUSTER_NAME, PatternType, Permission
from touchstone.reference_impl.cluster.acls import Operation as Op
from touchstone.reference_impl.cluster.acls import ResourceType as Kind

OPEN = {
    Kind.TOPIC: ("open", "open-none", "open#none", "open-doomed"),
    Kind.GROUP: ("open", "open-none"),
    Kind.TRANSACTIONAL_ID: ("open", "open-none"),
    Kind.CLUSTER: (CLUSTER_NAME,),
}
OPERATIONS = {
    Kind.TOPIC: (Op.READ, Op.WRITE, Op.CREATE, Op.DELETE, Op.ALTER, Op.DESCRIBE,
                 Op.DESCRIBE_CONFIGS, Op.ALTER_CONFIGS),
    Kind.GROUP: (Op.READ, Op.DELETE, Op.DESCRIBE),
    Kind.TRANSACTIONAL_ID: (Op.WRITE, Op.DESCRIBE),
    Kind.CLUSTER: (Op.CREATE, Op.ALTER, Op.DELETE, Op.DESCRIBE, Op.CLUSTER_ACTION,
                   Op.DESCRIBE_CONFIGS, Op.ALTER_CONFIGS, Op.IDEMPOTENT_WRITE),
}  # fmt: skip


def _of(kind: Kind, operation: Op) -> list[Grant]:
    return [Grant(kind, name, operation) for name in OPEN[kind]]


def _all_of(*kinds: Kind) -> list[Grant]:
    return [each for kind in kinds for each in _of(kind, Op.ALL)]


_TXN = Kind.TRANSACTIONAL_ID
_WHOLE = [Grant(kind, CLUSTER_NAME if kind == Kind.CLUSTER else "*", Op.ALL) for kind in OPEN]
_DENIED = [
    Grant(kind, name.replace("open", "shut"), Op.ALL, Permission.DENY)
    for kind in (Kind.TOPIC, Kind.GROUP, _TXN)
    for name in OPEN[kind]
]

RIGHTS: Mapping[str, list[Grant]] = {
    "nothing": [],
    "everything": _WHOLE,
    "everything but what is denied": [*_WHOLE, *_DENIED],
    "what is denied even so": [
        *_all_of(Kind.TOPIC), *(Grant(Kind.TOPIC, "*", Op.DESCRIBE, Permission.DENY),),
    ],
    "another host": [each._replace(host="127.0.0.9") for each in _WHOLE],
    "anybody, anywhere": [each._replace(host="*", principal="User:*") for each in _WHOLE[1:]],
    "topics": _all_of(Kind.TOPIC),
    "groups": _all_of(Kind.GROUP),
    "groups and topics": _all_of(Kind.GROUP, Kind.TOPIC),
    "transactions": _all_of(_TXN),
    "transactions and groups": _all_of(_TXN, Kind.GROUP),
    "transactions, groups, topics": _all_of(_TXN, Kind.GROUP, Kind.TOPIC),
    "transactions and topics": _all_of(_TXN, Kind.TOPIC),
    **{
        f"{kind.name} {operation.name}": _of(kind, operation)
        for kind, operations in OPERATIONS.items()
        for operation in operations
    },
    **{
        f"groups, TOPIC {operation.name}": [*_all_of(Kind.GROUP, _TXN), *_of(Kind.TOPIC, operation)]
        for operation in (Op.READ, Op.WRITE, Op.DESCRIBE)
    },
}  # fmt: skip
PREFIXED: Mapping[str, list[Grant]] = {  # since 2.0 (KIP-290)
    "a prefix": [
        Grant(kind, "open", Op.ALL, pattern=PatternType.PREFIXED)
        for kind in (Kind.TOPIC, Kind.GROUP, _TXN)
    ],
    "a prefix but one": [
        *(Grant(kind, "o", Op.ALL, pattern=PatternType.PREFIXED) for kind in (Kind.TOPIC, _TXN)),
        Grant(Kind.TOPIC, "open", Op.ALL, Permission.DENY),
    ],
    "all but a prefix": [
        *_WHOLE, Grant(Kind.TOPIC, "sh", Op.ALL, Permission.DENY, PatternType.PREFIXED),
    ],
}  # fmt: skip
