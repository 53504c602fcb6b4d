"""The cluster keeps its clients' quotas and their SCRAM credentials.

A quota belongs to an entity: a user, a client id, both, or an address, each by name or as the
default (None). Who may be written, and what is said of it, is decided by the handlers.

Sources: KIP-13, KIP-546 (quota entities), KIP-554 (credentials); DYN-01, DYN-16.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from touchstone.reference_impl.cluster.scram_credentials import ScramCredential

Entity = tuple[tuple[str, str | None], ...]  # (type, name), in the order of ENTITY_TYPES
ENTITY_TYPES = ("client-id", "user", "ip")

QUOTAS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
    "connection_creation_rate",
)


def entity(parts: dict[str, str | None]) -> Entity:
    """The one spelling of an entity."""
    return tuple((kind, parts[kind]) for kind in ENTITY_TYPES if kind in parts)


class ClientSettings:
    def __init__(self) -> None:
        self._quotas: dict[Entity, dict[str, float]] = {}
        self._set: Counter[str] = Counter()  # entities that have a quota of this name
        self._credentials: dict[str, dict[int, ScramCredential]] = {}  # by user and mechanism

    # --- quotas -----------------------------------------------------------------------------

    def quotas(self) -> Iterator[tuple[Entity, dict[str, float]]]:
        for who, values in self._quotas.items():
            yield who, dict(values)

    @property
    def has_quotas(self) -> bool:
        return bool(self._quotas)

    def has_quota(self, key: str) -> bool:
        """Whether anybody has a quota of this name."""
        return self._set[key] > 0

    def quota(self, who: Entity, key: str) -> float | None:
        """The quota that is set for exactly this entity."""
        return self._quotas.get(who, {}).get(key)

    def set_quotas(self, who: Entity, changes: dict[str, float | None]) -> None:
        """None takes a quota away; an entity without any is not kept."""
        values = self._quotas.setdefault(who, {})
        for key, value in changes.items():
            self._set[key] += (value is not None) - (key in values)
            if value is None:
                values.pop(key, None)
            else:
                values[key] = value
        if not values:
            del self._quotas[who]

    def replace_quotas(self, who: Entity, values: dict[str, float | None]) -> None:
        """These quotas and no others."""
        gone: dict[str, float | None] = dict.fromkeys(self._quotas.get(who, ()))
        self.set_quotas(who, gone | values)

    # --- credentials ------------------------------------------------------------------------

    def users(self) -> list[str]:
        return list(self._credentials)

    def credentials(self, user: str) -> dict[int, ScramCredential]:
        """By the number of their mechanism; empty for a user without any."""
        return dict(sorted(self._credentials.get(user, {}).items()))

    def credential(self, user: str, mechanism: int) -> ScramCredential | None:
        return self._credentials.get(user, {}).get(mechanism)

    def put_credential(self, user: str, mechanism: int, credential: ScramCredential) -> None:
        self._credentials.setdefault(user, {})[mechanism] = credential

    def replace_credentials(self, user: str, held: Mapping[int, ScramCredential]) -> None:
        """These credentials and no others."""
        self._credentials.pop(user, None)
        if held:
            self._credentials[user] = dict(held)

    def drop_credential(self, user: str, mechanism: int) -> bool:
        """False where there is none."""
        held = self._credentials.get(user, {})
        if held.pop(mechanism, None) is None:
            return False
        if not held:
            del self._credentials[user]
        return True
