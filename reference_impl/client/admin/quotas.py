"""Client quotas (KIP-546) by entity: `{"user": "alice", "client-id": None}`, None: the default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple

from touchstone.reference_impl.wire.schema import Struct

from ..flow import Flow, KafkaError
from .driver import AdminCore, Call
from .results import Results, error_in

QuotaEntity = frozenset[tuple[str, str | None]]  # entity type, name


class QuotaMatch(IntEnum):
    EXACT = 0
    DEFAULT = 1
    ANY = 2


class QuotaFilter(NamedTuple):
    """One component: `user`, `client-id` or `ip`, and what its name is to be."""

    entity_type: str
    match: str | None = None
    match_type: QuotaMatch = QuotaMatch.EXACT


def quota_entity(names: Mapping[str, str | None]) -> QuotaEntity:
    return frozenset(names.items())


class QuotaAdmin(AdminCore):
    def describe_client_quotas(
        self, filters: Iterable[QuotaFilter] = (), *, strict: bool = False
    ) -> Flow[dict[QuotaEntity, dict[str, float]]]:
        """Quota key -> value of each entity that all filters match; `strict`: of no other parts."""
        components = [
            {"entity_type": each.entity_type, "match_type": each.match_type, "match": each.match}
            for each in filters
        ]

        def read(
            answer: Struct, keys: list[str]
        ) -> dict[str, dict[QuotaEntity, dict[str, float]] | KafkaError]:
            found = {
                _entity(row): {each["key"]: each["value"] for each in row["values"]}
                for row in answer["entries"] or ()
            }
            return dict.fromkeys(keys, error_in(answer) or found)

        body = {"components": components, "strict": strict}
        return (yield from self._once(Call("DescribeClientQuotas", lambda _: body, read)))

    def alter_client_quotas(
        self,
        changes: Mapping[QuotaEntity, Mapping[str, float | None]],
        *,
        validate_only: bool = False,
    ) -> Flow[Results[QuotaEntity, None]]:
        """Set these quota keys of each entity; None removes one."""

        def row(entity: QuotaEntity) -> Struct:
            return {
                "entity": [
                    {"entity_type": kind, "entity_name": name} for kind, name in sorted(entity)
                ],
                "ops": [
                    {"key": key, "value": value or 0.0, "remove": value is None}
                    for key, value in changes[entity].items()
                ],
            }

        def body(entities: list[QuotaEntity]) -> Struct:
            return {"entries": [row(each) for each in entities], "validate_only": validate_only}

        def read(answer: Struct, keys: list[QuotaEntity]) -> dict[QuotaEntity, None | KafkaError]:
            return {_entity(row): error_in(row) for row in answer["entries"]}

        return (yield from self._carry_out(Call("AlterClientQuotas", body, read), changes))


def _entity(row: Struct) -> QuotaEntity:
    return frozenset((each["entity_type"], each["entity_name"]) for each in row["entity"])
