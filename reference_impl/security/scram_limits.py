"""How many iterations SCRAM asks for; apart from `scram`, which loads libcrypto (4 MB).

A broker without passwords knows the limits and makes no keys.

Source: ScramMechanism.
"""

from __future__ import annotations

FEWEST, MOST = 4096, 16384  # both inclusive, of both mechanisms
MOST_TAKEN = 100_000
"""The most that our client takes from a broker, which it does not know yet (RFC 5802, section 9).
Brokers keep no more than MOST, but for what was written to ZooKeeper.
"""
