"""Trees that real 1.0.2, 2.2.1 and 2.8.2 wrote into ZooKeeper, and how to make ours comparable.

`recorded/RELEASE.json` holds path -> [text, ephemeral] as it was read on 2026-11-21 from three
single brokers that had been given the same requests; topics of other tests were left out. What is
different by nature (ids, times, ports) is made equal by `plain`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.cluster.znodes import Form

RELEASES = ("1.0", "2.2", "2.8")
Tree = dict[str, tuple[str | None, bool]]
_VARYING = (
    (re.compile(r'"timestamp":"\d+"'), '"timestamp":"T"'),
    (re.compile(r'"topic_id":"[\w-]{22}"'), '"topic_id":"I"'),
    (re.compile(r'("version":"1","id":)"[\w-]{22}"'), r'\1"C"'),
    (re.compile(r"127\.0\.0\.1:\d+"), "H:P"),
    (re.compile(r'"port":\d+'), '"port":P'),
)


def form(release: str) -> Form:
    return Form.of(persona(release).quirk)


def real(release: str) -> Tree:
    text = (Path(__file__).with_name("recorded") / f"{release}.json").read_text()
    return {path: (text, owned) for path, (text, owned) in json.loads(text).items()}


def plain(tree: Tree) -> Tree:
    made = {}
    for path, (text, owned) in tree.items():
        for pattern, instead in _VARYING:
            text = pattern.sub(instead, text) if text else text
        made[path] = text, owned
    return made


def grown(cluster: Cluster, name: str, *counts: int, configs: dict[str, str] | None = None) -> None:
    """A topic that came with so many partitions, and got more until there were so many."""
    cluster.create(name, [[0]] * counts[0], configs)
    for before, after in zip(counts, counts[1:], strict=False):
        cluster.grow(name, [[0]] * (after - before))
