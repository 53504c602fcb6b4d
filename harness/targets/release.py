"""A version of Apache Kafka, and what it takes to run it.

Everything follows from the version by rule, so that a version that nobody here has heard of runs on
the day it is out. What a rule does not give stands in `BESIDE`. Tried on the newest patch of every
minor from 1.0 to 4.4 on Java 17.

Sources: Maven's artifacts of each version; KIP-833 (KRaft is for production from 3.3 on), KIP-653
(log4j2 from 4.0 on), KIP-932 (share groups, from 4.0 on).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

Number = tuple[int, ...]

OLDEST: Number = (1, 0)
ON_SCALA_2_13: Number = (2, 4)  # the first whose broker Maven has for Scala 2.13
WITH_KRAFT: Number = (3, 3)
LOG4J_2: Number = (4, 0)
NIGHTLY = "nightly"
RECORDED = "recorded"  # the tier of a release without a persona
_NUMBERS = re.compile(r"\d+(\.\d+)*")


class Beside(NamedTuple):
    """A jar that the broker's own dependencies lack, and the versions that need it."""

    since: Number  # inclusive
    until: Number | None  # exclusive; None: still
    artifact: str


BESIDE = (
    # A logging binding: without one a broker says nothing, not even why it died.
    Beside(OLDEST, LOG4J_2, "org.slf4j:slf4j-log4j12:1.7.25"),
    Beside(LOG4J_2, None, "org.apache.logging.log4j:log4j-slf4j-impl:2.25.1"),
    Beside(LOG4J_2, None, "org.apache.kafka:kafka-tools:{version}"),
    # Their own clients of ZooKeeper, 3.4.13 and 3.4.14, read addresses in a way that Java 17 no
    # longer allows (UnresolvedAddressException, for ever); 3.5.9 does not.
    Beside((2, 0), (2, 4), "org.apache.zookeeper:zookeeper:3.5.9"),
)


@dataclass(frozen=True, slots=True)
class Release:
    """A version of Kafka: Maven's, or that of the jars in a folder."""

    version: str  # "4.3.1"
    tier: str = NIGHTLY  # of ci/matrix.toml, for the releases that are recorded
    folder: Path | None = None  # whose jars are run, in place of Maven's

    @property
    def number(self) -> Number:
        """Its numbers, for comparisons: (4, 3, 1), also of 4.3.1-SNAPSHOT."""
        return number(self.version)

    @property
    def name(self) -> str:
        """Its minor release, "4.3": what a persona and a recording are called."""
        return ".".join(map(str, self.number[:2]))

    @property
    def word(self) -> str:
        """What stands for it after the @ of a target."""
        return self.version if self.folder is None else str(self.folder)

    @property
    def scala(self) -> str:
        """The suffix of the broker's artifact, org.apache.kafka:kafka_SCALA."""
        return "2.13" if self.number >= ON_SCALA_2_13 else "2.12"

    @property
    def kraft(self) -> bool:
        """Whether a quorum of controllers keeps the cluster's metadata, and no ZooKeeper."""
        return self.number >= WITH_KRAFT

    @property
    def log4j_2(self) -> bool:
        """Whether it logs by log4j2."""
        return self.number >= LOG4J_2

    @property
    def artifacts(self) -> tuple[str, ...]:
        """Maven coordinates of the broker and what it needs besides."""
        beside = (
            one.artifact.format(version=self.version)
            for one in BESIDE
            if one.since <= self.number and (one.until is None or self.number < one.until)
        )
        return (f"org.apache.kafka:kafka_{self.scala}:{self.version}", *beside)


def number(version: str) -> Number:
    """Return the numbers that a version begins with. Raise ValueError if it begins with none."""
    begin = _NUMBERS.match(version)
    if begin is None:
        raise ValueError(f"{version!r} is no version")
    return tuple(map(int, begin[0].split(".")))
