"""A pytest plugin of `ci/run live` by day: without cases whose cluster few claims share.

    python -m pytest -p ci.common_clusters suites/ --target kafka@4.3 --newest ...

Each shape needs a cluster of its own, and starting one costs a processor what dozens of cases on it
do: of 63 shapes on Kafka 4.3 and 1.0 seventeen have 2,034 of the 2,124 cases. Cases of the others
are judged by day on our broker, against Kafka's recorded answers, and at night on Kafka itself.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

from touchstone.harness.plugin import _case as case_of
from touchstone.harness.plugin import _leave_out as leave_out

FEW = 20  # claims: with fewer, a shape has no cluster by day


@pytest.hookimpl(trylast=True)  # behind -m; the plugin of the suites comes later, with its parts
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    found = [(item, case.claim) for item in items if (case := case_of(item)) is not None]
    claims = defaultdict(set)
    for _, claim in found:
        claims[claim.shape].add(claim.id)
    leave_out(config, items, [item for item, one in found if len(claims[one.shape]) < FEW])
