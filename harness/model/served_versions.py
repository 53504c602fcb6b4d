"""Steps that only prepare or observe, asked in a version that the target serves.

Claims write such steps in a version that all five releases serve (`steps.AUXILIARY`). A broker that
serves few versions of an API may leave that one out and still do what the step is for: krafka has
ListOffsets 5 to 11, nafka 5 alone, and both know where a log ends. So the step is asked in the
nearest version that they do serve, if the same body means the same there. What the claim is about
is never asked in another version.

MEANS_THE_SAME: API -> the versions (first, last) between which a body of the first is complete,
whose later fields have defaults that ask for nothing. Where a list ends the next version differs:
DeleteTopics 6 and Produce 13 name topics by id, a transactional Produce 12 adds its partition
(KIP-890), FindCoordinator 4 and OffsetFetch 8 ask for many keys, SyncGroup 5 insists on a protocol
(KIP-559), DescribeGroups 6 has another answer for a group that is not there (KIP-1043). APIs whose
error codes changed in between (EndTxn, AddPartitionsToTxn: PRODUCER_FENCED) are left out. Source:
the messages' schemas, in `wire/apis`, and KafkaApis at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from touchstone.harness.model.scenario import Ask, Scenario, Send, Step, Until, asked

MEANS_THE_SAME = {
    "CreateTopics": (2, 7), "DeleteRecords": (0, 2), "DeleteTopics": (1, 5),
    "DescribeGroups": (0, 5), "Fetch": (4, 12), "FindCoordinator": (1, 3), "Heartbeat": (0, 4),
    "InitProducerId": (0, 4), "ListOffsets": (1, 10), "Metadata": (4, 12), "OffsetFetch": (2, 7),
    "Produce": (3, 11), "SyncGroup": (0, 4),
}  # fmt: skip


def nearest(api: str, version: int, served: tuple[int, int]) -> int | None:
    """The lowest served version above this one in which its body means the same; None: there is
    none. `served`: the lowest and highest that the target advertises, both inclusive.
    """
    first, last = MEANS_THE_SAME.get(api, (0, -1))
    wanted = served[0]
    return wanted if first <= version < wanted <= min(last, served[1]) else None


def asking(scenario: Scenario, versions: Mapping[str, int]) -> Scenario:
    """The scenario with other versions in these steps, by their labels."""
    if not versions:
        return scenario
    steps = tuple(
        _in(step, versions[label]) if label in versions else step
        for label, step in zip(scenario.labels, scenario.steps, strict=True)
    )
    return replace(scenario, steps=steps)


def up_to(scenario: Scenario, api: str, version: int) -> Scenario | None:
    """Return the scenario up to its first request of this version; None where its answer is awaited
    by a step of its own, or nobody asks.
    """
    for number, step in enumerate(map(asked, scenario.steps), 1):
        if isinstance(step, Ask | Send) and (step.api, step.version) == (api, version):
            own = replace(scenario, steps=scenario.steps[:number])
            return own if isinstance(step, Ask) else None
    return None


def _in(step: Step, version: int) -> Step:
    if isinstance(step, Until):
        return replace(step, ask=replace(step.ask, version=version))
    assert isinstance(step, Ask | Send), "only a request has a version"
    return replace(step, version=version)
