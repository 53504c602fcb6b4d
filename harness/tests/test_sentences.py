"""A claim's sentence names its subject, so that a stranger can read it alone, in a report."""

import re
from collections import Counter

import pytest

from touchstone.harness.cli.coverage import all_claims

# Openings that need the sentence before, or ask a question where the claim has the answer.
OPENINGS = re.compile(r"(What|The same|It|They|Who|Whoever|Nobody|How|Whether|Nor|Likewise)\b")
DIALECT = re.compile(
    r"\b(answers as if|is of nobody|is told|hears|hung up on|knows no|is nobody's)\b"
)


def complaint(sentence: str) -> str:
    """Why somebody could not read this sentence alone; empty if one can."""
    if OPENINGS.match(sentence):
        return "begins without its subject"
    if DIALECT.search(sentence):
        return "is said in words that only this house has"
    return "" if sentence.endswith((".", '."', ")")) else "has no full stop"


@pytest.mark.parametrize(
    "sentence",
    ["What a second fetch says.", "The same for a quota.", "It stays.", "Nobody may join.",
     "CreateTopics answers as if.", "SyncGroup is of nobody that is known.", "A topic is made"],
)  # fmt: skip
def test_a_sentence_that_leans_on_others_is_refused(sentence):
    assert complaint(sentence)


@pytest.mark.slow
def test_each_claim_can_be_read_alone():
    claims = all_claims()
    said = {one.id: why for one in claims if (why := complaint(one.sentence))}
    assert said == {}
    assert [text for text, n in Counter(one.sentence for one in claims).items() if n > 1] == []
