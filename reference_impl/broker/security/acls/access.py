"""What the peer of one request may do: an `Authorizer` that knows who asks."""

from __future__ import annotations

from touchstone.reference_impl.broker.security.acls.authorizer import Authorizer
from touchstone.reference_impl.cluster.acls import CLUSTER_NAME, Operation, ResourceType


class Access:
    __slots__ = ("_authorizer", "_host", "_principal")

    def __init__(self, authorizer: Authorizer, principal: str, host: str) -> None:
        self._authorizer, self._principal, self._host = authorizer, principal, host

    def may(self, operation: int, kind: int, name: str) -> bool:
        return self._authorizer.may(self._principal, self._host, operation, kind, name)

    def cluster(self, operation: int) -> bool:
        return self.may(operation, ResourceType.CLUSTER, CLUSTER_NAME)

    def topic(self, operation: int, name: str) -> bool:
        return self.may(operation, ResourceType.TOPIC, name)

    def somewhere(self, operation: int, kind: int) -> bool:
        return self._authorizer.may_somewhere(self._principal, self._host, operation, kind)

    def bits(self, operations: int, kind: int, name: str) -> int:
        """Of these operations, a bit field, those that are allowed (KIP-430)."""
        allowed = (each for each in Operation if operations >> each & 1)
        return sum(1 << each for each in allowed if self.may(each, kind, name))
