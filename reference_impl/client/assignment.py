"""What assignors divide and give: members as their leader sees them, racks, shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .flow import TopicPartition

Given = dict[str, list[TopicPartition]]  # member id -> what it is to have
Racks = Mapping[TopicPartition, frozenset[str]]  # racks of a partition's replicas


class Taker(NamedTuple):
    """A member as its leader sees it; `generation` is the one in which it got what it owns."""

    id: str
    instance_id: str | None
    topics: frozenset[str]
    owned: frozenset[TopicPartition] = frozenset()
    generation: int = -1
    rack: str | None = None

    @property
    def rank(self) -> tuple[bool, str, str]:
        return self.instance_id is None, self.instance_id or self.id, self.id


def ranked(takers: Iterable[Taker]) -> list[Taker]:
    """In the one order in which all see them: by instance id, then by member id."""
    return sorted(takers, key=lambda taker: taker.rank)
