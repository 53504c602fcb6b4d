"""The cluster: its brokers, its metadata quorum, its features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple

from touchstone.reference_impl.wire.schema import Struct

from ..connection import SOFTWARE
from ..flow import ANY, LATEST_VERSION, Flow, KafkaError
from .driver import AdminCore, Call
from .results import Results, error_in, everywhere, picked

METADATA_TOPIC = "__cluster_metadata"


class Node(NamedTuple):
    broker_id: int
    host: str
    port: int
    rack: str | None = None
    is_fenced: bool = False


class ClusterDescription(NamedTuple):
    """A controller of -1 is unknown."""

    cluster_id: str | None
    controller_id: int
    brokers: tuple[Node, ...]


class QuorumReplica(NamedTuple):
    """Instants in ms since the epoch, -1 where unknown."""

    replica_id: int
    log_end_offset: int
    last_fetch_timestamp: int = -1
    last_caught_up_timestamp: int = -1
    replica_directory_id: bytes = bytes(16)


class Quorum(NamedTuple):
    leader_id: int
    leader_epoch: int
    high_watermark: int
    current_voters: tuple[QuorumReplica, ...]
    observers: tuple[QuorumReplica, ...]


class VersionRange(NamedTuple):
    """Both inclusive."""

    min_version: int
    max_version: int


class Features(NamedTuple):
    """`epoch` is -1 where nothing is finalized."""

    supported: dict[str, VersionRange]
    finalized: dict[str, int]
    epoch: int = -1


class UpgradeType(IntEnum):
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


class FeatureUpdate(NamedTuple):
    """Level 0 deletes the feature's level."""

    level: int
    kind: UpgradeType = UpgradeType.UPGRADE


class Voter(NamedTuple):
    voter_id: int
    voter_directory_id: bytes


class Endpoint(NamedTuple):
    name: str
    host: str
    port: int


class ClusterAdmin(AdminCore):
    def describe_cluster(self, *, fenced: bool = False) -> Flow[ClusterDescription]:
        """By DescribeCluster (from 2.8), or Metadata where a broker does not know that.

        `fenced` brokers are listed from 4.0 on if asked for (KIP-1073).
        """
        body = {"include_fenced_brokers": fenced, "endpoint_type": 1}
        versions = (2 if fenced else 0, LATEST_VERSION)
        known = yield from self._carry_out(
            Call("DescribeCluster", lambda _: body, _cluster, versions=versions), ["cluster"]
        )
        if fenced or not any(getattr(error, "final", False) for error in known.errors().values()):
            return known.all()["cluster"]
        asked = Call("Metadata", lambda _: {"topics": []}, _cluster, versions=(1, LATEST_VERSION))
        return (yield from self._once(asked))

    def api_versions(
        self, nodes: Iterable[int] | None = None
    ) -> Flow[Results[int, dict[int, VersionRange]]]:
        """API key -> versions of each broker (None: of all)."""
        wanted = (yield from self._brokers()) if nodes is None else list(nodes)

        def read(
            answer: Struct, keys: list[int]
        ) -> dict[int, dict[int, VersionRange] | KafkaError]:
            found = {row["api_key"]: picked(VersionRange, row) for row in answer["api_keys"]}
            return dict.fromkeys(keys, error_in(answer) or found)

        return (yield from self._carry_out(Call("ApiVersions", lambda _: SOFTWARE, read), wanted))

    def describe_features(self, node: int | str = ANY) -> Flow[Features]:
        """What one broker supports and the cluster has finalized (KIP-584, from 2.7)."""

        def read(answer: Struct, keys: list[int | str]) -> dict[int | str, Features | KafkaError]:
            supported = answer.get("supported_features") or ()
            finalized = answer.get("finalized_features") or ()
            found = Features(
                {row["name"]: picked(VersionRange, row) for row in supported},
                {row["name"]: row["max_version_level"] for row in finalized},
                answer.get("finalized_features_epoch", -1),
            )
            return dict.fromkeys(keys, error_in(answer) or found)

        call = Call("ApiVersions", lambda _: SOFTWARE, read, versions=(3, LATEST_VERSION))
        return (yield from self._carry_out(call, [node])).all()[node]

    def update_features(
        self, updates: Mapping[str, FeatureUpdate], *, validate_only: bool = False
    ) -> Flow[Results[str, None]]:
        """From version 2 (4.0) all stand or fall together, and one error is everybody's."""

        def body(names: list[str]) -> Struct:
            rows = [
                {
                    "feature": name,
                    "max_version_level": updates[name].level,
                    "upgrade_type": int(updates[name].kind),
                    "allow_downgrade": updates[name].kind != UpgradeType.UPGRADE,
                }
                for name in names
            ]
            return {
                "timeout_ms": self.timeout_ms,
                "feature_updates": rows,
                "validate_only": validate_only,
            }

        def read(answer: Struct, names: list[str]) -> dict[str, None | KafkaError]:
            found: dict[str, None | KafkaError] = dict.fromkeys(names, error_in(answer))
            if not answer["error_code"]:
                rows = answer.get("results") or ()
                found |= {row["feature"]: error_in(row, row["feature"]) for row in rows}
            return found

        versions = (1 if validate_only else 0, LATEST_VERSION)
        call = Call("UpdateFeatures", body, read, versions=versions)
        return (yield from self._carry_out(call, updates))

    def describe_metadata_quorum(self) -> Flow[Quorum]:
        """Of a cluster without ZooKeeper (KIP-595)."""
        row = {"topic_name": METADATA_TOPIC, "partitions": [{"partition_index": 0}]}

        def read(answer: Struct, keys: list[str]) -> Mapping[str, Quorum | KafkaError]:
            if error := error_in(answer):
                return everywhere(error, keys)
            (topic,) = answer["topics"]
            (part,) = topic["partitions"]
            voters, observers = (
                tuple(picked(QuorumReplica, each) for each in part[kind])
                for kind in ("current_voters", "observers")
            )
            found = picked(Quorum, part, current_voters=voters, observers=observers)
            return dict.fromkeys(keys, error_in(part) or found)

        return (yield from self._once(Call("DescribeQuorum", lambda _: {"topics": [row]}, read)))

    def add_raft_voter(self, voter: Voter, endpoints: Iterable[Endpoint]) -> Flow[None]:
        """Have a controller vote (KIP-853); raises where that fails."""
        body = {
            "cluster_id": self.view.cluster_id,
            "timeout_ms": self.timeout_ms,
            **voter._asdict(),
            "listeners": [each._asdict() for each in endpoints],
            "ack_when_committed": True,
        }
        return (yield from self._once(Call("AddRaftVoter", lambda _: body, _nothing)))

    def remove_raft_voter(self, voter: Voter) -> Flow[None]:
        body = {"cluster_id": self.view.cluster_id, **voter._asdict()}
        return (yield from self._once(Call("RemoveRaftVoter", lambda _: body, _nothing)))

    def unregister_broker(self, broker: int) -> Flow[None]:
        """Have a cluster without ZooKeeper forget a broker that is gone for good."""
        body = {"broker_id": broker}
        return (yield from self._once(Call("UnregisterBroker", lambda _: body, _nothing)))


def _cluster(answer: Struct, keys: list[str]) -> dict[str, ClusterDescription | KafkaError]:
    brokers = tuple(
        picked(Node, row, broker_id=row.get("broker_id", row.get("node_id")))
        for row in answer["brokers"]
    )
    cluster_id = answer.get("cluster_id")  # Metadata has it from version 2 on
    found = picked(ClusterDescription, answer, cluster_id=cluster_id, brokers=brokers)
    return dict.fromkeys(keys, error_in(answer) or found)


def _nothing(answer: Struct, keys: list[str]) -> dict[str, None | KafkaError]:
    return dict.fromkeys(keys, error_in(answer))
