"""A topic that exists has an id that is not zero, and keeps it (KIP-516).

Where a version has topic ids, an entry without an error carries the topic's id; in Fetch and
Produce it is the one that was asked for. A topic's name does not get a second id within a case that
does not delete it.
"""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript

NO_ID = bytes(16)


def check(transcript: Transcript) -> list[Finding]:
    found = []
    deletes = any(True for _ in walks.decoded(transcript, "DeleteTopics"))
    ids: dict[str, bytes] = {}
    for trip, answer in walks.decoded(transcript, "Metadata", "CreateTopics"):
        dry = walks.request_of(trip).get("validate_only", False)
        for index, topic in enumerate(answer["topics"] or ()):
            if "topic_id" not in topic or topic["error_code"] != 0 or dry:
                continue
            word = None
            if topic["topic_id"] == NO_ID:
                word = "a topic that exists has no id"
            elif (
                not deletes
                and ids.setdefault(topic["name"], topic["topic_id"]) != topic["topic_id"]
            ):
                word = "the topic had another id before"
            if word:
                found.append(Finding("topic-ids", trip.label, f"topics[{index}].topic_id", word))
    return found + _echoes(transcript)


def _echoes(transcript: Transcript) -> list[Finding]:
    """Fetch and Produce by id answer for ids that were asked for."""
    found = []
    for trip, answer in walks.decoded(transcript, "Fetch", "Produce"):
        request = walks.request_of(trip)
        asked = {t.get("topic_id") for t in request.get("topics", request.get("topic_data")) or ()}
        if request.get("session_id"):
            continue  # an incremental session answers for topics asked for earlier
        for index, topic in enumerate(answer["responses"] or ()):
            if "topic_id" in topic and topic["topic_id"] not in asked:
                word = f"nobody asked for topic {topic['topic_id'].hex()}"
                path = f"responses[{index}].topic_id"
                found.append(Finding("topic-ids", trip.label, path, word))
    return found
