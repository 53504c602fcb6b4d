"""The keys of signed tokens, by listener; and when an unknown one is looked for.

Which keys are read how is the listener's part (`io/jwks.py`): it says so with `add`, because
nothing is read here.

Source: RefreshingHttpsJwks.maybeExpediteRefresh at 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.security.signed_tokens import Keys

MOST_MISSING = 16  # ids that are remembered
LONGEST_ID = 1000  # characters
AGAIN_AFTER_MS = 60_000


class TokenKeys:
    """Who reads the keys for one broker's listeners."""

    def __init__(self, broker: Broker) -> None:
        self._by_listener: dict[str, Keys] = {}

    def add(self, listener: str, keys: Keys) -> None:
        self._by_listener[listener] = keys

    def of_listener(self, listener: str) -> Keys | None:
        return self._by_listener.get(listener)


class MissingKeys:
    """Ids of keys that were looked for in vain: so that tokens of nobody's fetch little."""

    def __init__(self) -> None:
        self._again_at: OrderedDict[str, int] = OrderedDict()  # by last use, oldest first

    def wanted(self, kid: str, now: int) -> bool:
        """Whether the keys are to be read for this id, now (ms)."""
        if len(kid) > LONGEST_ID:
            return False
        again_at = self._again_at.get(kid)
        if again_at is None or again_at <= now:
            self._again_at[kid] = now + AGAIN_AFTER_MS
        self._again_at.move_to_end(kid)
        if len(self._again_at) > MOST_MISSING:
            self._again_at.popitem(last=False)
        return again_at is None or again_at <= now

    def found(self, kids: Iterable[str | None]) -> None:
        for kid in kids:
            if kid is not None:
                self._again_at.pop(kid, None)
