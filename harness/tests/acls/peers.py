"""Two brokers with an authorizer, and who asks them: an admin, and a stranger whose ACLs change.

Both are User:ANONYMOUS, for nobody authenticates; what tells them apart is the address that they
come from. Brokers begin with `allow.everyone.if.no.acl.found` and without ACLs; the first ACLs
allow everything to the admin's address, where a ZooKeeper broker's controller comes from as well,
and from then on nothing to any other.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from touchstone.harness.bench.line import Line
from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.cluster.acls import (
    CLUSTER_NAME,
    WILDCARD,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)

ADMIN, STRANGER = "127.0.0.1", "127.0.0.2"
PATIENCE_S = 300.0
CLOSED = "the broker hung up"


class Grant(NamedTuple):
    """An ACL for the stranger, or for whoever `host` and `principal` say."""

    kind: ResourceType
    name: str
    operation: Operation
    permission: Permission = Permission.ALLOW
    pattern: PatternType = PatternType.LITERAL
    host: str = STRANGER
    principal: str = "User:ANONYMOUS"

    def creation(self) -> dict[str, Any]:
        return {"resource_type": self.kind, "resource_name": self.name,
                "resource_pattern_type": self.pattern, "principal": self.principal,
                "host": self.host, "operation": self.operation,
                "permission_type": self.permission}  # fmt: skip

    def filter(self) -> dict[str, Any]:
        return {"resource_type_filter": self.kind, "resource_name_filter": self.name,
                "pattern_type_filter": self.pattern, "principal_filter": self.principal,
                "host_filter": self.host, "operation": self.operation,
                "permission_type": self.permission}  # fmt: skip


ADMINS = [
    Grant(kind, WILDCARD if kind != ResourceType.CLUSTER else CLUSTER_NAME, Operation.ALL,
          host=ADMIN)
    for kind in (ResourceType.CLUSTER, ResourceType.TOPIC, ResourceType.GROUP,
                 ResourceType.TRANSACTIONAL_ID, ResourceType.DELEGATION_TOKEN)
]  # fmt: skip
ALL = {"resource_type_filter": 1, "resource_name_filter": None, "pattern_type_filter": 1,
       "principal_filter": None, "host_filter": None, "operation": 1,
       "permission_type": 1}  # fmt: skip


class Peer(Line):
    """A connection from an address of this machine."""

    def __init__(self, bootstrap: str, host: str) -> None:
        at, _, port = bootstrap.rpartition(":")
        address = (at, int(port))
        self.socket = socket.create_connection(address, PATIENCE_S, source_address=(host, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class Broker:
    """One of the two; `release` says which ACL versions it has."""

    def __init__(self, bootstrap: str, release: str) -> None:
        self.bootstrap = bootstrap
        self.admin = Peer(bootstrap, ADMIN)
        self.served = persona(release).broker_listener
        self.version = self.served[30][1]
        self._stranger: Peer | None = None
        self._granted: set[Grant] = set()
        self.ids: dict[str, bytes] = {}  # of topics, as Metadata tells them
        self.made: dict[str, bytes] = {}  # and as CreateTopics did, where it does

    def close(self) -> None:
        self.admin.close()
        if self._stranger is not None:
            self._stranger.close()

    def ask(self, api: str, version: int, body: dict[str, Any]) -> Any:
        """What the stranger gets; CLOSED if that is the end of its connection."""
        if self._stranger is None:
            self._stranger = Peer(self.bootstrap, STRANGER)
        try:
            return self._stranger.ask(api, version, body)
        except ConnectionError:
            self._stranger.close()
            self._stranger = None
            return CLOSED

    def grant(self, grants: Iterable[Grant]) -> None:
        """These ACLs and no others, beside the admin's; returns when the broker knows them."""
        tokens = ResourceType.DELEGATION_TOKEN
        admins = (each for each in ADMINS if self.version or each.kind != tokens)  # since 1.1
        wanted = {*admins, *grants}
        gone, new = self._granted - wanted, wanted - self._granted
        if new:
            rows = [each.creation() for each in sorted(new)]
            answer = self.admin.ask("CreateAcls", self.version, {"creations": rows})
            assert not any(row["error_code"] for row in answer["results"]), answer
        if gone:
            rows = [each.filter() for each in sorted(gone)]
            answer = self.admin.ask("DeleteAcls", self.version, {"filters": rows})
            assert not any(row["error_code"] for row in answer["filter_results"]), answer
        self._granted = wanted
        self._until_known(wanted)

    def _until_known(self, wanted: set[Grant]) -> None:
        until = time.monotonic() + PATIENCE_S
        while (known := self.acls()) != {_spelled(each) for each in wanted}:
            if time.monotonic() > until:
                raise TimeoutError(f"the broker knows {known}")

    def acls(self) -> set[tuple[Any, ...]]:
        answer = self.admin.ask("DescribeAcls", self.version, ALL)
        assert not answer["error_code"], answer
        return {
            (row["resource_type"], row["resource_name"], row.get("pattern_type", 3),
             each["principal"], each["host"], each["operation"], each["permission_type"])
            for row in answer["resources"] for each in row["acls"]
        }  # fmt: skip


def _spelled(grant: Grant) -> tuple[Any, ...]:
    return (grant.kind, grant.name, grant.pattern, grant.principal, grant.host, grant.operation,
            grant.permission)  # fmt: skip
