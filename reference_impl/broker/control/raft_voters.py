"""A quorum whose voters stand in the settings refuses to add or remove one.

The order of the checks is the controller's and shows in which error comes first: another cluster,
no voter, one that cannot be reached, a kraft.version without dynamic voters. Nothing comes after.

Sources: KIP-853; KafkaRaftClient and AddVoterHandler@3.9.2, 4.3.1; observed on both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.cluster.topology import Cluster

NO_DIRECTORY = bytes(16)
LISTENER = "CONTROLLER"  # controller.listener.names of the clusters we are compared with


class Words(NamedTuple):
    """The words for one of the two requests in their error messages."""

    title: str
    doing: str


ADD, REMOVE = Words("Add", "adding"), Words("Remove", "removing")


def refused(cluster: Cluster, body: Mapping[str, Any], words: Words) -> Struct:
    code, message = _fault(cluster, body, words)
    return {"error_code": code, "error_message": message}


def _fault(cluster: Cluster, body: Mapping[str, Any], words: Words) -> tuple[int, str]:
    own, named = cluster.cluster_id, body["cluster_id"]
    if named is not None and named != own:
        message = f'The given id "{named}" doesn\'t match the cluster id "{own}"'
        return ErrorCode.INCONSISTENT_CLUSTER_ID, message
    if body["voter_id"] < 0 or body["voter_directory_id"] == NO_DIRECTORY:
        message = f"{words.title} voter request didn't include a valid voter"
        return ErrorCode.INVALID_REQUEST, message
    missing = _without_listener(body)
    if missing:
        return ErrorCode.INVALID_REQUEST, missing
    message = f"Cluster doesn't support {words.doing} voter because the kraft.version feature is 0"
    return ErrorCode.UNSUPPORTED_VERSION, message


def _without_listener(body: Mapping[str, Any]) -> str:
    """What is said of a new voter that quorum members could not reach; removals name none."""
    listeners = body.get("listeners")
    if listeners is None or any(row["name"] == LISTENER for row in listeners):
        return ""
    shown = ", ".join(
        f"ListenerName({row['name']})={row['host']}/<unresolved>:{row['port']}" for row in listeners
    )
    return (
        f"Add voter request didn't include the endpoint (Endpoints(endpoints={{{shown}}})) for the "
        f"default listener ListenerName({LISTENER})"
    )
