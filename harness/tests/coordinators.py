"""Conversations about who coordinates a key, made by hand, for the tests of what may differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Line = tuple[str, str, int, dict[str, Any], dict[str, Any]]


def case(talk: Callable[..., Any]) -> dict[str, Any]:
    """The case of coordinators: one of the brokers that were listed, and at its own address."""
    honest, legal, *faults = (
        talk(_listed(), _coordinator(*row), brokers=3)
        for row in ((1, 1), (0, 0), (-1, 1), (-2, 1), (7, 7), (0, 1))
    )
    return {"coordinator": (honest, legal, faults)}


def _listed() -> Line:
    brokers = [{"node_id": node, **_address(node), "rack": None} for node in range(3)]
    answer = {"brokers": brokers, "cluster_id": None, "controller_id": 0, "topics": []}
    return "listed", "Metadata", 10, {"topics": []}, answer


def _coordinator(node: int, of: int) -> Line:
    answer = {"error_code": 0, "node_id": node, **_address(of)}
    return "asked", "FindCoordinator", 1, {"key": "g"}, answer


def _address(node: int) -> dict[str, Any]:
    return {"host": "127.0.0.1", "port": 9092 + node}
