"""The rows of a fuzz run: flat, for tables and dashboards.

One file, JSON Lines: a line for each shard of each campaign (what was played), then one for each
cause (what was found). No line has a field "row": it is no result file, and `touchstone report`
finds it by its name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

SCHEMA = 1
NAME = "fuzz-rows.jsonl"
REPLAYS = 5
NO_API = -1  # the key of a cause that is about no API

# Every field of a row and what kind of value it holds, as in `rows.CASE`.
SHARD: dict[str, str] = {
    "fuzz": "text",  # "shard"
    "schema": "whole",
    "run": "text",  # the run's id
    "target": "text",
    "campaign": "text",
    "seed": "whole",
    "shard": "whole",  # from 0
    "shards": "whole",
    "executions": "whole",  # cases played
    "seconds": "number",
    "signatures": "whole",  # distinct behaviours that this shard saw
    "complaints": "whole",
    "died": "text",  # how the target ended, or null
}
CAUSE: dict[str, str] = {
    "fuzz": "text",  # "cause"
    "schema": "whole",
    "run": "text",
    "target": "text",
    "campaign": "text",
    "seed": "whole",
    "oracle": "text",
    "key": "whole",  # the API key; -1: of no API at all
    "api": "text",  # its name; empty where there is none
    "behaviour": "text",
    "sentence": "text",
    "members": "whole",  # complaints of this cause, of all shards
    "steps": "whole",  # of the reproducer
    "bytes": "whole",
    "runs": "whole",  # of the target, to make it small
    "repeats": "whole",  # of five replays
    "file": "text",  # beside the rows; empty where nothing can be played again
    "decides": "flag",  # whether the run ends with 1 for it
}


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """All rows, whole or not at all. Raises ValueError for a row that is neither of the two."""
    lines = [json.dumps(checked(row)) for row in rows]
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text("".join(f"{line}\n" for line in lines))
    fresh.replace(path)


def lines(paths: Iterable[Path]) -> Iterator[str]:
    """What each campaign in these files came to, a line each; of files that can be read."""
    played: Counter[tuple[str, str]] = Counter()
    found: Counter[tuple[str, str]] = Counter()
    for path in paths:
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            at = row["target"], row["campaign"]
            played[at] += row.get("executions", 0)
            found[at] += row.get("decides", row.get("repeats") == REPLAYS)
    for target, campaign in played:
        at = target, campaign
        yield f"{target}, fuzz {campaign}: {played[at]} cases, {found[at]} causes"


def checked(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its fields in their order; ValueError names what is missing or too much."""
    kind = {"shard": SHARD, "cause": CAUSE}.get(str(row.get("fuzz")))
    if kind is None or row.keys() != kind.keys():
        wrong = row.keys() ^ (kind or SHARD).keys()
        raise ValueError(f"not a row of a fuzz run: {', '.join(sorted(wrong)) or row}")
    return {name: row[name] for name in kind}
