"""A claim's scenario without a target: what a case would ask, as data.

A claim's function returns its scenario, so what a case will do is known before the first byte is
sent: the order of a run, and what `touchstone explain` prints, follow from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.harness.model.case import Case, Experiment, Judgement
from touchstone.harness.model.claim import CaseId
from touchstone.harness.model.expect import Expectation
from touchstone.harness.model.scenario import Ask, HalfClose, Inflict, Raw, Scenario, Send, asked
from touchstone.harness.run.altered import resources

SHARE_STATES = ("InitializeShareGroupState", "ReadShareGroupState", "WriteShareGroupState",
                "DeleteShareGroupState", "ReadShareGroupStateSummary")  # fmt: skip
FORBIDS_CREATION = 4  # the first version of Metadata that can forbid auto-creation
_KEYS = ("group_id", "groups", "group_ids", "groups_names", "transactional_id")
OF_GROUPS = ("AddOffsetsToTxn", "Heartbeat", "OffsetCommit", "OffsetDelete", "OffsetFetch",
             "TxnOffsetCommit")  # fmt: skip
OF_TRANSACTIONS = ("AddPartitionsToTxn", "DescribeTransactions", "EndTxn")
# What these change is everybody's: features, brokers' registrations, voters.
EVERYBODYS = ("UpdateFeatures", "UnregisterBroker", "AddRaftVoter", "RemoveRaftVoter",
              "LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown")  # fmt: skip
CLIENT_METRICS = 16  # of a config resource's kinds


@dataclass(frozen=True, slots=True)
class _Nobody:
    """A judge (harness/model/case.py) without a target: it knows the oracle's release."""

    release: str

    def judgement(self, case: CaseId, scenario: Scenario, expectation: Expectation) -> Judgement:
        raise NotImplementedError("a dry run asks nobody")


Function = Callable[..., Any]


def run(function: Function, case: CaseId, release: str) -> Experiment | None:
    """What a case asks and expects; None when the function fails or returns none."""
    try:
        found = function(Case(case, _Nobody(release)))
    except Exception:  # the run itself will report it, as BROKEN with its stack
        return None
    return found if isinstance(found, Experiment) else None


@dataclass(frozen=True, slots=True)
class Nature:
    """What a case does to others: it may kill a broker by what it sends, must be `alone` on its
    cluster, or `harms` brokers from outside.
    """

    kills: bool = False
    alone: bool = False
    harms: bool = False

    @property
    def gentle(self) -> bool:
        """Whether it does neither: nobody else on the cluster notices it."""
        return not (self.kills or self.alone)


def nature(function: Callable[..., Any], case: CaseId, release: str) -> Nature:
    """What a case does to others; nothing, if nobody can say."""
    found = run(function, case, release)
    if found is None:
        return Nature()
    scenario = found.scenario
    return Nature(may_kill(scenario), alone(scenario), scenario.harms)


def alone(scenario: Scenario) -> bool:
    """Whether other cases on the same cluster would see what this one does."""
    return bool(resources(scenario)) or any(
        isinstance(step, Inflict) or _everybodys(asked(step)) for step in scenario.steps
    )


def uses_groups(scenario: Scenario) -> bool:
    """Whether it asks about groups of consumers."""
    return any("Group" in api or api in OF_GROUPS for api in _apis(scenario))


def asks_coordinators(scenario: Scenario) -> bool:
    """Whether it asks about groups or transactions, of which one broker of several knows."""
    requests = [step for step in map(asked, scenario.steps) if isinstance(step, Ask | Send)]
    return uses_groups(scenario) or any(
        step.api in OF_TRANSACTIONS or step.body.get("transactional_id") for step in requests
    )


def deletes_topics(scenario: Scenario) -> bool:
    return "DeleteTopics" in _apis(scenario)


def _apis(scenario: Scenario) -> set[str]:
    return {step.api for step in map(asked, scenario.steps) if isinstance(step, Ask | Send)}


def may_kill(scenario: Scenario) -> bool:
    """Whether it sends bytes that are no well-formed request."""
    return any(isinstance(step, Raw | HalfClose) for step in scenario.steps)


def fixed_in_place(scenario: Scenario) -> bool:
    """Whether something it asks about lives where the cluster puts it: a group or transaction of a
    fixed name, the states of a share group, a topic that a question creates. Of several brokers any
    may be the one to ask.
    """
    return any(
        step.api in SHARE_STATES or _creates(step) or _names_a_group(step.body)
        for step in map(asked, scenario.steps)
        if isinstance(step, Ask | Send)
    )


def _creates(step: Ask | Send) -> bool:
    """Whether a Metadata request may create topics: before version 4 nothing can forbid it."""
    if step.api != "Metadata" or not step.body.get("topics"):
        return False
    return step.version < FORBIDS_CREATION or bool(step.body.get("allow_auto_topic_creation"))


def _names_a_group(value: Any) -> bool:
    """Whether a group or transactional id is written out anywhere in a body."""
    if isinstance(value, Mapping):
        return any(
            _written(inner) if name in _KEYS else _names_a_group(inner)
            for name, inner in value.items()
        )
    return isinstance(value, list | tuple) and any(_names_a_group(one) for one in value)


def _written(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_written(one) or _names_a_group(one) for one in value)
    return isinstance(value, str) or _names_a_group(value)


def looks_at(scenario: Scenario, setting: str) -> bool:
    """Whether a step names this setting: then it sees where its value comes from."""
    return f'"{setting}"' in json.dumps(scenario.to_json()["steps"])


def _everybodys(step: Any) -> bool:
    if not isinstance(step, Ask | Send):
        return False
    if step.api in EVERYBODYS:
        return True
    if step.api == "ListConfigResources":  # of all cases; those of version 0 are client metrics
        return set(step.body.get("resource_types") or [CLIENT_METRICS]) == {CLIENT_METRICS}
    if step.api == "AlterClientQuotas":  # a default entity is everybody's
        rows = step.body.get("entries") or ()
        return any(part.get("entity_name") is None for row in rows for part in row["entity"])
    return False
