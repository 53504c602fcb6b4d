"""Settings are trimmed and read in any case, as 3.9.2 and 4.3.1 do; synonyms stay as written."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

WRITTEN = {
    "auto.create.topics.enable": ("TRUE", "true"),
    "log.cleaner.enable": (" FALSE", "false"),
    "num.io.threads": (" 7 ", "7"),
    "log.cleaner.min.cleanable.ratio": ("0.50", "0.5"),
}


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_values_are_shown_as_they_are_understood(release):
    config = {name: text for name, (text, _) in WRITTEN.items()}
    with serve(release=release, config=config) as running, Client(running.bootstrap) as client:
        (found,) = client.admin.describe_configs([(4, "0")], synonyms=True).all().values()
        assert {name: found[name].value for name in WRITTEN} == {
            name: value for name, (_, value) in WRITTEN.items()
        }
        assert found["auto.create.topics.enable"].synonyms[0].value == "TRUE"


@pytest.mark.parametrize(("text", "made"), [(" TRUE", True), ("False", False)])
def test_a_topic_is_made_where_the_setting_says_so_in_any_case(text, made):
    config = {"auto.create.topics.enable": text}
    with serve(config=config) as running, Client(running.bootstrap) as client:
        topics = [{"name": "words", "topic_id": bytes(16)}]
        body = {"topics": topics, "allow_auto_topic_creation": True}
        client.ask("Metadata", body, versions=(4, 4))
        assert ("words" in client.admin.list_topics()) is made
