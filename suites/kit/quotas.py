"""Setting and telling client quotas, as steps, and clients that have a name of their own.

Sources: schemas AlterClientQuotas and DescribeClientQuotas; KIP-546.
"""

from collections.abc import Mapping
from typing import Any

from touchstone.harness.model.scenario import Ask, Until

EXACT, DEFAULT, ANY = 0, 1, 2
USER = "ANONYMOUS"  # who everybody is on a listener without authentication
PRODUCER, CONSUMER = "producer_byte_rate", "consumer_byte_rate"
MUTATIONS, TIME = "controller_mutation_rate", "request_percentage"
LIMIT = 1900  # bytes in a second, so 19 000 in the ten that a rate is taken over
LARGE = b"x" * 24_000  # above that by less than three seconds


def of_client(client: Any, user: Any = None) -> dict[str, Any]:
    """The quota entity of a client id, or of the pair of a user and a client id."""
    return {"client-id": client} if user is None else {"user": user, "client-id": client}


def alter(
    who: Mapping[str, Any],
    changes: Mapping[str, float | None],
    *,
    version: int = 0,
    validate_only: bool = False,
    name: str = "alter",
) -> Ask:
    """Set these quotas of one entity; None takes one away."""
    entity = [{"entity_type": kind, "entity_name": word} for kind, word in who.items()]
    ops = [
        {"key": key, "value": 0.0 if value is None else float(value), "remove": value is None}
        for key, value in changes.items()
    ]
    body = {"entries": [{"entity": entity, "ops": ops}], "validate_only": validate_only}
    return Ask("AlterClientQuotas", version, body, name)


def describe(
    who: Mapping[str, Any], *, version: int = 0, strict: bool = True, name: str = "described"
) -> Ask:
    """The quotas of exactly these names (None: of the default)."""
    components = [
        {"entity_type": kind, "match_type": DEFAULT if word is None else EXACT, "match": word}
        for kind, word in who.items()
    ]
    return Ask("DescribeClientQuotas", version, {"components": components, "strict": strict}, name)


def limited(
    who: Mapping[str, Any], changes: Mapping[str, float], *, name: str = "limited"
) -> list[Any]:
    """Set quotas and wait until the broker tells them."""
    shown = describe(who, name=f"{name} shown")
    return [
        alter(who, changes, name=name),
        Until(shown, "entries[0].values", "len ==", len(changes)),
    ]


def taken_away(who: Mapping[str, Any], *keys: str, name: str = "taken away") -> list[Any]:
    """Take quotas of one entity away, by default the producer's, and wait until none is told."""
    changes = dict.fromkeys(keys or (PRODUCER,))
    shown = describe(who, name=f"{name} shown")
    return [alter(who, changes, name=name), Until(shown, "entries", "len ==", 0)]
