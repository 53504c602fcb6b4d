"""A client is its user and its client id; of the quotas that name it the most specific holds.

All who fall under a quota of a user share one measure of it, as do all connections of a client id
under the others (DYN-16). Which user or client id that is, is called an owner here.

Sources: KIP-55, KIP-124; ClientQuotaManager.DefaultQuotaCallback at 2.8.2 (quotaMetricTags,
quotaLimit).
"""

from __future__ import annotations

from typing import NamedTuple

from touchstone.reference_impl.cluster.client_settings import ClientSettings, Entity, entity

Owner = tuple[str | None, str | None]  # the user and the client id that is measured


class Limit(NamedTuple):
    """So much in a second, together, for all that this owner names."""

    value: float
    owner: Owner


# Whom a quota names (True: by name, False: as the default), the most specific first, and whether
# the user and the client id are measured apart.
_LEVELS: tuple[tuple[dict[str, bool], tuple[bool, bool]], ...] = (
    ({"user": True, "client-id": True}, (True, True)),
    ({"user": True, "client-id": False}, (True, True)),
    ({"user": True}, (True, False)),
    ({"user": False, "client-id": True}, (True, True)),
    ({"user": False, "client-id": False}, (True, True)),
    ({"user": False}, (True, False)),
    ({"client-id": True}, (False, True)),
    ({"client-id": False}, (False, True)),
)


def limit_of(settings: ClientSettings, key: str, user: str, client_id: str) -> Limit | None:
    """The quota of this name that holds for a client; None where none does."""
    own = {"user": user, "client-id": client_id}
    for names, (by_user, by_client) in _LEVELS:
        who: Entity = entity({kind: own[kind] if exact else None
                              for kind, exact in names.items()})  # fmt: skip
        value = settings.quota(who, key)
        if value is not None:
            return Limit(value, (user if by_user else None, client_id if by_client else None))
    return None
