"""Rewrites of what controllers, quotas and configs answer: legal differences of one line each.

`normalize` names the reasons and says where they apply; these functions only do what is said there.

Sources: schemas DescribeQuorum, AddRaftVoter, ListConfigResources; KIP-124 (throttle times).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.normalize import Symbols
    from harness.transcript import Transcript

TOPIC = 2  # of a config resource's kinds
SCOUT = "scout"  # the member of suites/rebalance/beats.py that only looks
_CLUSTER_ID = re.compile(r'(the cluster id )"[^"]+"')


def addresses(transcript: Transcript) -> dict[tuple[str, int], int]:
    """The address of each broker as lists of brokers tell it; the first that is told counts."""
    found: dict[int, tuple[str, int]] = {}
    for exchange in transcript.exchanges:
        answer = exchange.answer if isinstance(exchange.answer, dict) else {}
        for row in answer.get("brokers") or ():
            if isinstance(row, dict) and {"host", "port"} <= row.keys():
                node = row.get("node_id", row.get("broker_id"))
                found.setdefault(node, (row["host"], row["port"]))
    return {address: node for node, address in found.items()}


def quoted_cluster(symbols: Symbols, value: Any, _: dict[str, Any]) -> Any:
    return _CLUSTER_ID.sub(r"\1$cluster-id", value) if isinstance(value, str) else value


def metadata_offset(symbols: Symbols, value: Any, struct: dict[str, Any]) -> Any:
    known = "error_code" not in struct or struct["error_code"] == 0
    return "$metadata-offset" if known and isinstance(value, int) and value >= 0 else value


def disk(symbols: Symbols, value: Any, _: dict[str, Any]) -> Any:
    return "$disk" if isinstance(value, int) and value >= 0 else value


def prose(symbols: Symbols, value: Any, _: dict[str, Any]) -> Any:
    return "$prose" if isinstance(value, str) and value else value


def feature_epoch(symbols: Symbols, value: Any, _: dict[str, Any]) -> Any:
    """Any change of the cluster's metadata moves it, between two answers of one case too."""
    return "$feature-epoch" if isinstance(value, int) and value >= 0 else value


def span(symbols: Symbols, value: Any, _: dict[str, Any]) -> Any:
    return "$throttled" if isinstance(value, int) and value > 0 else value


def scouted(symbols: Symbols, value: Any, struct: dict[str, Any]) -> Any:
    """Each look may be an epoch, and how many there are before the news comes is chance."""
    known = struct.get("member_id") == SCOUT and isinstance(value, int) and value > 0
    return "$scouted" if known else value


def only_ours(
    answer: dict[str, Any], symbols: Symbols, rows: str = "topics", word: str = "name"
) -> dict[str, Any]:
    kept = [row for row in answer[rows] or () if row.get(word) in symbols.ours]
    symbols.used["other-topics"] += len(kept) != len(answer[rows] or ())
    return answer | {rows: kept}


def only_named(answer: dict[str, Any], symbols: Symbols) -> dict[str, Any]:
    """Topics of other cases are theirs; brokers are everybody's."""
    rows = answer["config_resources"]
    kept = [
        row
        for row in rows
        if row.get("resource_type") != TOPIC or row.get("resource_name") in symbols.ours
    ]
    symbols.used["other-topics"] += len(kept) != len(rows)
    return answer | {"config_resources": kept}
