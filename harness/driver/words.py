"""The translation of one case: what its scenario calls brokers, racks and internal partitions here.

All groups and transactional ids of a case are drawn so that one partition of the internal topics
holds them, as on the cluster that was recorded, which has one: partition 0, unless another broker
than the one that is asked leads it. So a case finds its own records in the log of an internal
topic, and its groups have one coordinator, however many partitions the topic has.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from touchstone.harness.driver.placement import Placement
from touchstone.harness.model import owner
from touchstone.harness.model.owner import TopicsByDefault
from touchstone.harness.model.pace import Fit, RaisedTimeouts
from touchstone.harness.model.scenario import Ask, Scenario, Send, asked
from touchstone.harness.model.target import Endpoint
from touchstone.harness.model.translation import Translation, partition_of


class Words:
    """What one case's requests and answers are called on its endpoint, both ways."""

    def __init__(self, scenario: Scenario, endpoint: Endpoint, fit: Fit) -> None:
        self._names = Translation(
            nodes=endpoint.ids,
            racks=_racks(scenario, endpoint),
            partitions={topic: home for topic, (_, home) in endpoint.internal.items() if home > 0},
            alone=scenario.brokers == 1 and len(endpoint.ids) > 1,
            owner=owner.of(endpoint.settings or {}, endpoint.finalized).without(
                name for name, _ in scenario.shape.config
            ),
        )
        self._by_default = TopicsByDefault() if self._names.owner.partitions else None
        self._placement = Placement(endpoint.ids[0]) if self._names.alone else None
        self._raised = RaisedTimeouts(fit.least, _questions(scenario))
        self._counts: dict[str, int] = {}
        self._needed = self._names.needed or bool(fit.least)

    @property
    def translation(self) -> Translation:
        """As far as the case has come: values that were raised belong to it."""
        names = self._by_default.names if self._by_default else frozenset()
        return replace(
            self._names, configs=self._raised.configs, counts=self._counts, by_default=names
        )

    @property
    def more_s(self) -> float:
        """By how many seconds the longest timeout was raised."""
        return self._raised.more_ms / 1000

    def sent(self, api: str, version: int, body: Any) -> Any:
        """A request's body as this endpoint is to get it."""
        if not self._needed:
            return body
        if self._by_default is not None:
            self._by_default.learn(api, version, body)
        found = self._names.request(self._raised.request(api, body))
        return found if self._placement is None else self._placement.request(api, found)

    def answered(self, body: Any) -> Any:
        """An answer's body as the scenario knows it."""
        return self.translation.answer(body) if self._needed or self._counts else body

    def made(self, counts: Mapping[str, int]) -> None:
        """Topics that may have more partitions than the scenario's, which has so many."""
        self._counts |= counts
        if self._by_default is not None:
            self._by_default.count(counts)


def _questions(scenario: Scenario) -> list[tuple[str, Any]]:
    """The API and the body of every request of a scenario."""
    steps = map(asked, scenario.steps)
    return [(step.api, step.body) for step in steps if isinstance(step, Ask | Send)]


def names_accepted(endpoint: Endpoint) -> Callable[[str], bool] | None:
    """Whether a group or transactional id belongs to the case's partitions; None: any does."""
    homes = [(count, max(0, home)) for count, home in endpoint.internal.values() if count > 1]
    if not homes:
        return None

    def accepted(text: str) -> bool:
        return all(partition_of(text, count) == home for count, home in homes)

    return accepted


def _racks(scenario: Scenario, endpoint: Endpoint) -> dict[str, str | None]:
    """The endpoint's racks as the scenario names them, broker by broker; it has none if that."""
    here = [rack for rack in endpoint.racks if rack]
    if not here:
        return {}
    if not scenario.racks:
        return dict.fromkeys(here)
    pairs = zip(endpoint.racks, scenario.racks, strict=False)
    return {theirs: ours or None for theirs, ours in pairs if theirs and theirs != ours}


def walk(value: Any) -> Iterator[Any]:
    """Every value within a step, the step itself first."""
    yield value
    if dataclasses.is_dataclass(value):
        for spec in dataclasses.fields(value):
            yield from walk(getattr(value, spec.name))
    elif isinstance(value, dict):
        for inner in value.values():
            yield from walk(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from walk(inner)
