"""Guards of configs: each resource is the cluster's, a topic's or a group's.

Sources: KafkaApis@1.0.2, 2.2.1, 2.8.2; ConfigHelper and ControllerApis@3.9; observed on 4.3.1.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.security.acls.guarding import (
    CLUSTER,
    GROUP,
    REFUSALS,
    TOPIC,
    Asked,
    Guard,
    Serve,
    cluster,
    once_there,
)
from touchstone.reference_impl.cluster.acls import CLUSTER_NAME, ResourceType
from touchstone.reference_impl.cluster.acls import Operation as Op
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

# Type of a config's resource -> type of the resource that ACLs know.
KINDS = {2: TOPIC, 4: CLUSTER, 8: CLUSTER, 16: CLUSTER, 32: GROUP}


def _configs(operation: Op, answers: str) -> Guard:
    def guard(asked: Asked, serve: Serve) -> Any:
        rows = asked.body["resources"]
        known = asked.persona.quirk("configs.resource-types")
        if any(row["resource_type"] not in KINDS.keys() & set(known) for row in rows):
            return serve(asked)  # it refuses all of them
        times = Counter((row["resource_type"], row["resource_name"]) for row in rows)
        left, denied = [], []
        for row in rows:
            kind, name = KINDS[row["resource_type"]], row["resource_name"]
            twice = times[row["resource_type"], name] > 1 and operation == Op.ALTER_CONFIGS
            name = CLUSTER_NAME if kind == CLUSTER else name
            if (twice and asked.persona.kraft) or asked.access.may(operation, kind, name):
                left.append(row)
            else:
                denied += _refused(asked, row, kind, answers)
        if not denied:
            return serve(asked)
        if not left:
            return {answers: denied}
        served = serve(asked.having(resources=left))
        return once_there(served, lambda body: {**body, answers: [*body[answers], *denied]})

    return guard


def _refused(asked: Asked, row: Struct, kind: ResourceType, answers: str) -> list[Struct]:
    body = registry.refusal(asked.having(resources=[row]).request, REFUSALS[kind])
    return [] if body is None else body[answers]


def describe_scram_credentials(asked: Asked, serve: Serve) -> Any:
    """Refused for the whole and, in KRaft, once more for each user, without name or text."""
    answer = cluster(Op.DESCRIBE)(asked, serve)
    if type(answer) is not dict or answer["error_code"] != E.CLUSTER_AUTHORIZATION_FAILED:
        return answer
    refused = {"error_code": answer["error_code"], "error_message": None}
    row = {"user": "", **refused, "credential_infos": []}
    rows = [row for _ in asked.body["users"] or ()] if asked.persona.kraft else []
    return {**answer, **refused, "results": rows}


describe_configs = _configs(Op.DESCRIBE_CONFIGS, "results")
alter_configs = _configs(Op.ALTER_CONFIGS, "responses")
