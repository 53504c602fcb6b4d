"""An answer speaks of the topics and partitions that were asked for: each once, no others.

Fetch sessions answer incrementally and are left out, and so is a fetch that has to wait for its
quota; so is Metadata, whose null asks for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript

APIS = ("Produce", "ListOffsets", "DeleteRecords", "OffsetForLeaderEpoch", "Fetch")
LISTS = {
    "CreateTopics": ("topics", "topics", "name"),
    "CreatePartitions": ("topics", "results", "name"),
}


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for api in APIS:
        asked_topics, asked_parts, topics, parts, index = walks.SHAPES[api]
        for trip, answer in walks.decoded(transcript, api):
            request = walks.request_of(trip)
            if not request or api == "Fetch" and _says_nothing(request, answer):
                continue
            asked = Counter(
                (walks.topic_key(topic), part[index])
                for topic in request[asked_topics] or ()
                for part in topic[asked_parts] or ()
            )
            answered = Counter(
                (walks.topic_key(topic), part.get(index, part.get("partition_index")))
                for topic in answer.get(topics) or ()
                for part in topic[parts] or ()
            )
            found += _faults(trip.label, topics, asked, answered)
    for api, (asked_list, answered_list, word) in LISTS.items():
        for trip, answer in walks.decoded(transcript, api):
            request = walks.request_of(trip)
            asked = Counter(entry[word] for entry in request.get(asked_list) or ())
            answered = Counter(entry[word] for entry in answer[answered_list] or ())
            found += _faults(trip.label, answered_list, asked, answered)
    return found


def _says_nothing(request: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """A fetch in a session, refused, or above its client's quota (KIP-219)."""
    throttled = answer.get("throttle_time_ms", 0) > 0 and not answer["responses"]
    return request.get("session_epoch", -1) > 0 or bool(answer.get("error_code")) or throttled


def _faults(label: str, path: str, asked: Counter[Any], answered: Counter[Any]) -> list[Finding]:
    words = [
        f"{key} is answered {times} times"
        for key, times in answered.items()
        if times > max(1, asked[key])
    ]
    words += [f"{key} was not asked for" for key in answered if key not in asked]
    words += [f"{key} is not answered" for key in asked if key not in answered]
    return [Finding("answers-what-was-asked", label, path, word) for word in words]
