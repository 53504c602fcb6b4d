"""Defects that show in one API: it is asked something else, or its answer is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.defects.planting import handler_defect
from touchstone.reference_impl.broker.effects import Request, Wait
from touchstone.reference_impl.wire.errors import ErrorCode

OFFSET_COMMIT, OFFSET_FETCH, SASL_HANDSHAKE, API_VERSIONS = 8, 9, 17, 18
CREATE_TOPICS, LEADER_EPOCHS, END_TXN, DESCRIBE_ACLS = 19, 23, 26, 29
DESCRIBE_CONFIGS, CREATE_PARTITIONS, INCREMENTAL_ALTER_CONFIGS, OFFSET_DELETE = 32, 37, 44, 47
APPEND, SUBTRACT, NO_OPERATION = 2, 3, 9
UNDEFINED = -1
Body = dict[str, Any]
Real = Callable[[Request, int], Any]


# -------------------------------------------------------------------------------- versions


@handler_defect("unserved-versions-advertised", API_VERSIONS)
def unserved_versions_advertised(real: Real, _: Broker, request: Request, now: int) -> Body:
    answer = real(request, now)
    for row in answer.get("api_keys", ()):
        row["max_version"] += 1
    return answer


@handler_defect("end-txn-range-narrow", API_VERSIONS)
def end_txn_range_narrow(real: Real, _: Broker, request: Request, now: int) -> Body:
    answer = real(request, now)
    for row in answer.get("api_keys", ()):
        if row["api_key"] == END_TXN:
            row["max_version"] = row["min_version"]
    return answer


# -------------------------------------------------------------------------------- security


@handler_defect("any-handshake-welcome", SASL_HANDSHAKE)
def any_handshake_welcome(real: Real, _: Broker, request: Request, now: int) -> Body:
    return {"error_code": ErrorCode.NONE, "mechanisms": [request.body["mechanism"]]}


@handler_defect("no-authorizer-no-acls", DESCRIBE_ACLS)
def no_authorizer_no_acls(real: Real, _: Broker, request: Request, now: int) -> Body:
    return {"error_code": ErrorCode.NONE, "error_message": None, "resources": []}


# ---------------------------------------------------------------------- topics and configs


@handler_defect("validate-only-creates", CREATE_TOPICS)
def validate_only_creates(real: Real, _: Broker, request: Request, now: int) -> Body | Wait:
    request.body["validate_only"] = False
    return real(request, now)


@handler_defect("mixed-creations-lost", CREATE_TOPICS)
def mixed_creations_lost(real: Real, _: Broker, request: Request, now: int) -> Body | Wait:
    """Of a request with one bad topic the good ones are answered and not made."""
    only, request.body["validate_only"] = request.body["validate_only"], True
    answer = real(request, now)
    if any(row["error_code"] for row in answer["topics"]):
        return answer
    request.body["validate_only"] = only
    return real(request, now)


@handler_defect("new-partitions-not-answered", CREATE_PARTITIONS)
def new_partitions_not_answered(real: Real, _: Broker, request: Request, now: int) -> Body:
    return real(request, now) | {"results": []}


@handler_defect("described-configs-empty", DESCRIBE_CONFIGS)
def described_configs_empty(real: Real, _: Broker, request: Request, now: int) -> Body:
    answer = real(request, now)
    for row in answer["results"]:
        row |= {"error_code": ErrorCode.NONE, "error_message": None, "configs": []}
    return answer


@handler_defect("config-lists-fixed", INCREMENTAL_ALTER_CONFIGS)
def config_lists_fixed(real: Real, _: Broker, request: Request, now: int) -> Any:
    """To append and to subtract are operations that nobody knows."""
    for row in request.body["resources"]:
        for config in row["configs"]:
            if config["config_operation"] in (APPEND, SUBTRACT):
                config["config_operation"] = NO_OPERATION
    return real(request, now)


@handler_defect("epochs-below-the-start-unknown", LEADER_EPOCHS)
def epochs_below_the_start_unknown(real: Real, broker: Broker, request: Request, now: int) -> Body:
    answer = real(request, now)
    for topic in answer["topics"]:
        for row in topic["partitions"]:
            replica = broker.replicas.get(topic["topic"], row["partition"])
            if replica is not None and row["end_offset"] <= replica.log.log_start_offset:
                row["leader_epoch"] = row["end_offset"] = UNDEFINED
    return answer


# ------------------------------------------------------------------------- offsets of groups


@handler_defect("version-0-refused", OFFSET_COMMIT)
def version_0_refused(real: Real, _: Broker, request: Request, now: int) -> Body | Wait:
    if request.header.version:
        return real(request, now)
    module: Any = registry.handler(OFFSET_COMMIT)
    return module.fail(request, ErrorCode.UNSUPPORTED_VERSION)


@handler_defect("unstable-offsets-fetched", OFFSET_FETCH)
def unstable_offsets_fetched(real: Real, _: Broker, request: Request, now: int) -> Body:
    request.body["require_stable"] = False
    return real(request, now)


@handler_defect("nothing-committed-is-zero", OFFSET_FETCH)
def nothing_committed_is_zero(real: Real, _: Broker, request: Request, now: int) -> Body:
    answer = real(request, now)
    for _asked, told in _groups(request.body, answer):
        for topic in told["topics"]:
            for row in topic["partitions"]:
                row["committed_offset"] = max(row["committed_offset"], 0)
    return answer


@handler_defect("fetch-of-all-forgets-topics", OFFSET_FETCH)
def fetch_of_all_forgets_topics(real: Real, _: Broker, request: Request, now: int) -> Body:
    answer = real(request, now)
    for asked, told in _groups(request.body, answer):
        if asked["topics"] is None:
            told["topics"] = told["topics"][:1]
    return answer


@handler_defect("fetch-by-name-omits-leader-epoch", OFFSET_FETCH)
def fetch_by_name_omits_leader_epoch(real: Real, _: Broker, request: Request, now: int) -> Body:
    answer = real(request, now)
    for asked, told in _groups(request.body, answer):
        for topic in told["topics"] if asked["topics"] is not None else ():
            for row in topic["partitions"]:
                row["committed_leader_epoch"] = UNDEFINED
    return answer


def _groups(asked: Body, answer: Body) -> Iterator[tuple[Body, Body]]:
    """What was asked of each group, and what was told: one up to version 7, then many."""
    told = answer.get("groups")
    return zip(asked["groups"], told, strict=True) if told else iter([(asked, answer)])


@handler_defect("offset-delete-forgets-nothing", OFFSET_DELETE)
def offset_delete_forgets_nothing(real: Real, broker: Broker, request: Request, now: int) -> Body:
    group = broker.room(Groups).coordinator.groups.get(request.body["group_id"])
    before = {} if group is None else dict(group.offsets)
    answer = real(request, now)
    if group is not None:
        group.offsets.update(before)
    return answer
