"""What a broker advertises makes sense: each key once, ranges that are ranges, ApiVersions too."""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript

API_VERSIONS = 18


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for trip, answer in walks.decoded(transcript, "ApiVersions"):
        seen: set[int] = set()
        for index, row in enumerate(answer["api_keys"] or ()):
            key, low, high = row["api_key"], row["min_version"], row["max_version"]
            word = None
            if key in seen:
                word = f"API key {key} stands here twice"
            elif not 0 <= low <= high:
                word = f"versions {low} to {high} are no range"
            seen.add(key)
            if word:
                found.append(Finding("api-versions", trip.label, f"api_keys[{index}]", word))
        if API_VERSIONS not in seen and (answer["error_code"] == 0 or seen):
            word = "ApiVersions itself is not advertised"
            found.append(Finding("api-versions", trip.label, "api_keys", word))
    return found
