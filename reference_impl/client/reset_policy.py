"""Where a position begins that nobody knows: `auto.offset.reset`, or what a seek asked for.

Sources: AutoOffsetResetStrategy at 4.3.1 (KIP-1106), SubscriptionState.requestOffsetReset.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .flow import ClientError
from .offsets import EARLIEST, LATEST

_DAY_MS = 86_400_000
_DURATION = re.compile(  # java.time.Duration.parse, less what is negative
    r"P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d{1,9})?)S)?)?", re.IGNORECASE
)
_FACTORS = (_DAY_MS, 3_600_000, 60_000, 1_000)


class ResetPolicy(NamedTuple):
    """A special timestamp of ListOffsets, or a duration (ms) before now.

    Where no record is as new as a duration asks for there is no position until one comes, as Java's
    consumer of 4.3.1 has it (`harness/tests/clients/test_positions_of_the_jars.py`).
    """

    name: str
    special: int | None
    back_ms: int = 0

    def timestamp(self, now: int) -> int:
        """What to ask ListOffsets for."""
        return now - self.back_ms if self.special is None else self.special


TO_EARLIEST = ResetPolicy("earliest", EARLIEST)
TO_LATEST = ResetPolicy("latest", LATEST)


def reset_policy(text: str) -> ResetPolicy | None:
    """`earliest`, `latest`, `by_duration:PT1H`; None for `none`. Raises ClientError (CONS-04)."""
    if text == "none":
        return None
    for known in (TO_EARLIEST, TO_LATEST):
        if text == known.name:
            return known
    kind, _, duration = text.partition(":")
    found = _DURATION.fullmatch(duration)
    if kind != "by_duration" or found is None or not any(found.groups()):
        raise ClientError(f"reset {text!r} is none of Kafka's (CONS-04)")
    parts = zip(found.groups(), _FACTORS, strict=True)
    back = sum(float((part or "0").replace(",", ".")) * factor for part, factor in parts)
    return ResetPolicy(text, None, int(back))
