"""Write down what real Kafka answers under some of the rights, newest versions only:

python -m touchstone.harness.tests.acls.record 4.3
"""

from __future__ import annotations

import gzip
import json
import sys

from touchstone.harness.tests.acls import comparing
from touchstone.harness.tests.acls.test_matrix import RECORDED, rights
from touchstone.reference_impl.broker.personas import persona

SOME = ("nothing", "everything", "everything but what is denied", "topics", "groups and topics",
        "transactions and groups", "TOPIC DESCRIBE", "TOPIC DELETE", "CLUSTER CREATE",
        "CLUSTER DESCRIBE", "CLUSTER CLUSTER_ACTION", "a prefix but one")  # fmt: skip


def record(release: str) -> None:
    newest = {key: high for key, (_, high) in persona(release).broker_listener.items()}
    asked = [each for each in comparing.questions(release) if each.version == newest[each.key]]
    told: dict[str, dict[str, object]] = {}
    with comparing.brokers(release) as (kafka, _):
        for name, grants in rights(release).items():
            if name in SOME:
                kafka.grant(grants)
                told[name] = {
                    ".".join(map(str, each)): comparing.answer(each, kafka) for each in asked
                }
    RECORDED.mkdir(exist_ok=True)
    path = RECORDED / f"{release}.json.gz"
    path.write_bytes(gzip.compress(json.dumps(told, indent=0).encode(), mtime=0))


if __name__ == "__main__":
    for release in sys.argv[1:]:
        record(release)
