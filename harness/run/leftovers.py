"""What a run's cases made on a cluster that is not ours, as their transcripts tell it.

These are the names that the run drew, and what granted requests made or set. A claim may commit
offsets for a group called "my-group", and so may somebody else: such names are told apart.

Pure: transcripts in, names out. What deletes them is `clearing`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from touchstone.harness.model.transcript import Event, Transcript
from touchstone.reference_impl.wire import headers

CLIENT_METRICS, GROUP = 16, 32  # kinds of config resources that are named as one likes
DELETE = 1  # an operation of IncrementalAlterConfigs
EXISTS = 36
LITERAL = 3  # the pattern of an ACL, before there were others
# Kinds of things as a reader is told of them, one and several.
TOPIC, GROUPS, QUOTA, USER, SETTING, ACL, TRANSACTION = (
    "topic", "group", "client quota", "SCRAM user", "setting", "ACL", "transactional id",
)  # fmt: skip
# The heartbeats of the newer group protocols, by which members join and leave.
HEARTBEATS = ("ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat")
JOINING = ("JoinGroup", "OffsetCommit", "TxnOffsetCommit", *HEARTBEATS)

Thing = tuple[str, str]  # kind and name
Entity = tuple[tuple[str, str | None], ...]


@dataclass
class Made:
    """Things that cases made, by kind.

    `topics` are all names that were drawn, for any request may create a topic that it names;
    `created` are those of which the target said that it created them. `groups` maps a group to the
    requests that it was used by, `members` to ids that JoinGroup gave in it; `quotas` and
    `settings` map their owners to keys. `fixed` and `fixed_groups` have names that no case drew:
    several may share them, and a group of such a name may be somebody else's.
    """

    topics: set[str] = field(default_factory=set)
    created: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)
    groups: dict[str, set[str]] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=dict)
    fixed_groups: set[str] = field(default_factory=set)
    quotas: dict[Entity, set[str]] = field(default_factory=dict)
    users: set[tuple[str, int]] = field(default_factory=set)
    settings: dict[tuple[int, str], set[str]] = field(default_factory=dict)
    acls: set[tuple[Any, ...]] = field(default_factory=set)
    transactions: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return any(vars(self).values())

    def add(self, other: Made) -> None:
        """What another made belongs to it as well."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(mine, set):
                mine |= value
            else:
                for key, inner in value.items():
                    mine.setdefault(key, set()).update(inner)

    def things(self) -> set[Thing]:
        """Everything that is known to have been made, by kind and name."""
        names: dict[str, Iterable[str]] = {
            TOPIC: self.created, GROUPS: self.groups, QUOTA: map(entity_word, self.quotas),
            USER: (name for name, _ in self.users), SETTING: (name for _, name in self.settings),
            ACL: (one[1] for one in self.acls), TRANSACTION: self.transactions,
        }  # fmt: skip
        return {(kind, name) for kind, found in names.items() for name in found}

    def only(self, things: Container[Thing]) -> Made:
        """Those of its things that are named here."""
        topics = {name for name in self.topics if (TOPIC, name) in things}
        return Made(
            topics=topics, created=self.created & topics,
            groups=_kept(self.groups, things, lambda name: (GROUPS, name)),
            members=_kept(self.members, things, lambda name: (GROUPS, name)),
            fixed_groups={name for name in self.fixed_groups if (GROUPS, name) in things},
            quotas=_kept(self.quotas, things, lambda entity: (QUOTA, entity_word(entity))),
            users={one for one in self.users if (USER, one[0]) in things},
            settings=_kept(self.settings, things, lambda owner: (SETTING, owner[1])),
            acls={one for one in self.acls if (ACL, one[1]) in things},
        )  # fmt: skip


def _kept(
    found: Mapping[Any, set[str]], things: Container[Thing], thing: Callable[[Any], Thing]
) -> dict[Any, set[str]]:
    return {key: value for key, value in found.items() if thing(key) in things}


def entity_word(entity: Entity) -> str:
    return ", ".join(f"{kind} {name or 'default'}" for kind, name in entity)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request of a case, with its answer where that matters; `drawn` are the case's names."""

    api: str
    body: Any
    answer: Any
    drawn: frozenset[str]
    tries: int

    def rows(self, name: str) -> list[Any]:
        """The rows of the answer; none when there is no answer."""
        return [] if self.answer is None else list(self.answer[name] or ())


def made_by(transcript: Transcript) -> Made:
    """Everything that a case made, or may have made."""
    made = Made()
    drawn = frozenset(transcript.header.names.values())
    made.topics |= drawn
    answers = _answers(transcript)
    for event in transcript.events:
        if event.direction == "made":
            made.created |= set(event.note.split(", ")) & drawn
        api = event.api_name
        if event.direction != "sent" or api is None:
            continue
        note = _NOTES.get(api)
        body = None if note is None else _decoded(headers.decode_request, event.raw)
        if note is not None and body is not None:
            note(made, _Asked(api, body, answers.get(event.step), drawn, event.tries))
    return made


def _answers(transcript: Transcript) -> dict[int, Any]:
    """Step -> the decoded answer, of steps whose answer says what was made."""
    found = {
        event.step: _decoded(headers.decode_response, event.api, event.version, event.raw)
        for event in transcript.events
        if _tells(event)
    }
    return {step: body for step, body in found.items() if body is not None}


def _tells(event: Event) -> bool:
    received = event.direction == "received" and event.version is not None
    return received and event.api_name in _GRANTED


def _decoded(decode: Callable[..., Any], *given: Any) -> Any:
    with contextlib.suppress(ValueError):
        return decode(*given).body
    return None


def _created(made: Made, asked: _Asked) -> None:
    rows = [] if asked.body.get("validate_only") else asked.rows("topics")
    names = {row["name"] for row in rows if row["error_code"] == 0}
    # Until it exists: only the last try is kept, and one before it has created the topic.
    names |= {row["name"] for row in rows if row["error_code"] == EXISTS and asked.tries > 1}
    made.created |= names & asked.drawn
    made.fixed |= {name for name in names - asked.drawn if not name.startswith("__")}


def _used(made: Made, asked: _Asked) -> None:
    group = asked.body["group_id"]
    if group not in asked.drawn:
        made.fixed_groups.add(group)
        return
    made.groups.setdefault(group, set()).add(asked.api)
    if asked.api == "JoinGroup" and asked.answer is not None and asked.answer["member_id"]:
        made.members.setdefault(group, set()).add(asked.answer["member_id"])


def _produced(made: Made, asked: _Asked) -> None:
    name = asked.body["transactional_id"]
    if name in asked.drawn and asked.answer is not None and asked.answer["error_code"] == 0:
        made.transactions.add(name)


def _limited(made: Made, asked: _Asked) -> None:
    if asked.body["validate_only"]:
        return
    codes = [row["error_code"] for row in asked.rows("entries")]
    for index, entry in enumerate(asked.body["entries"]):
        entity = tuple((part["entity_type"], part["entity_name"]) for part in entry["entity"])
        keys = {op["key"] for op in entry["ops"] if not op["remove"]}
        ours = any(name in asked.drawn for _, name in entity)
        granted = codes[index] == 0 if index < len(codes) else ours
        if keys and granted:
            made.quotas.setdefault(entity, set()).update(keys)


def _enrolled(made: Made, asked: _Asked) -> None:
    granted = {row["user"] for row in asked.rows("results") if row["error_code"] == 0}
    rows = asked.body["upsertions"]
    made.users |= {(row["name"], row["mechanism"]) for row in rows if row["name"] in granted}


def _set(made: Made, asked: _Asked) -> None:
    for row in () if asked.body["validate_only"] else asked.body["resources"]:
        owner = row["resource_type"], row["resource_name"]
        keys = {one["name"] for one in row["configs"] if one.get("config_operation") != DELETE}
        if owner[0] in (CLIENT_METRICS, GROUP) and owner[1] in asked.drawn and keys:
            made.settings.setdefault(owner, set()).update(keys)


ACL_FIELDS = (
    "resource_type", "resource_name", "resource_pattern_type", "principal", "host", "operation",
    "permission_type",
)  # fmt: skip


def _allowed(made: Made, asked: _Asked) -> None:
    codes = [row["error_code"] for row in asked.rows("results")]
    for row, code in zip(asked.body["creations"], codes, strict=False):
        if code == 0 and row["resource_name"] in asked.drawn:
            made.acls.add(tuple(row.get(name, LITERAL) for name in ACL_FIELDS))


_NOTES: dict[str, Callable[[Made, _Asked], None]] = {
    "CreateTopics": _created, "InitProducerId": _produced, "AlterClientQuotas": _limited,
    "AlterUserScramCredentials": _enrolled, "CreateAcls": _allowed,
    "IncrementalAlterConfigs": _set, "AlterConfigs": _set, **dict.fromkeys(JOINING, _used),
}  # fmt: skip
# Of these the answer matters: what was granted was made.
_GRANTED = frozenset(
    {
        "CreateTopics", "InitProducerId", "AlterClientQuotas", "AlterUserScramCredentials",
        "CreateAcls", "JoinGroup",
    }
)  # fmt: skip
