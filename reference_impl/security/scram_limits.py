"""How many iterations SCRAM asks for; apart from `scram`, which loads libcrypto (4 MB).

A broker without passwords knows the limits and makes no keys.

Source: ScramMechanism.
"""

from __future__ import annotations

FEWEST, MOST = 4096, 16384  # both inclusive, of both mechanisms
