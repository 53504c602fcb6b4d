"""A fetch session exists only where one was asked for (KIP-227).

A request with session epoch -1 is sessionless, and its answer has session id 0. A request inside a
session is answered by that session's id, or by 0 with an error, or by 0 and no partition where the
request forgets the last one: such a session ends.
"""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript

SESSIONLESS = -1


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for trip, answer in walks.decoded(transcript, "Fetch"):
        request = walks.request_of(trip)
        if "session_epoch" not in request or "session_id" not in answer:
            continue
        asked, given = request["session_id"], answer["session_id"]
        word = None
        if request["session_epoch"] == SESSIONLESS and given != 0:
            word = f"session {given} for a request without one"
        elif request["session_epoch"] > 0 and answer["error_code"] == 0 and given != asked:
            ended = given == 0 and request["forgotten_topics_data"] and not answer["responses"]
            word = None if ended else f"session {given} answers session {asked}"
        if word:
            found.append(Finding("fetch-session", trip.label, "session_id", word))
    return found
