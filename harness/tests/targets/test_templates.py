"""Placeholders in the commands of a target file."""

import pytest

from touchstone.harness.targets import templates

VALUES = {"port": "9092", "rack": "", "host": "localhost", "port.controller": "9093"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("--port={port}", "--port=9092"),
        ("{host}:{port.controller}", "localhost:9093"),
        ("no placeholder", "no placeholder"),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ("awk '{{print}}'", "awk '{print}'"),
        ("{rack}", ""),
    ],
)
def test_a_template_is_filled(text, filled):
    assert templates.fill(text, VALUES) == filled


def test_a_placeholder_without_a_value_is_an_error():
    with pytest.raises(KeyError):
        templates.fill("{data}", VALUES)


@pytest.mark.parametrize(("rack", "expected"), [("a", ["serve", "--rack", "a"]), ("", ["serve"])])
def test_words_that_stand_together_are_left_out_when_one_is_empty(rack, expected):
    assert templates.argv(("serve", ("--rack", "{rack}")), {"rack": rack}, {}) == expected


@pytest.mark.parametrize("settings", [[], ["--set", "a=b", "--set", "c=d"]])
def test_a_placeholder_of_several_words_becomes_several_words(settings):
    argv = templates.argv(("serve", "{settings}", "--last"), {}, {"settings": settings})
    assert argv == ["serve", *settings, "--last"]


def test_an_unknown_placeholder_is_found():
    assert templates.unknown(["{port} {prot}"], ("port",)) == "prot"
    assert templates.unknown(["{port} {{prot}}"], ("port",)) is None


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("KAFKA_{KEY}={value}", "KAFKA_LOG_RETENTION_MS=5"),
        ("{key_} = {value}", "log_retention_ms = 5"),
        ("{key}={value}", "log.retention.ms=5"),
    ],
)
def test_a_setting_is_spelled_as_its_carrier_wants(template, expected):
    assert templates.fill(template, templates.spellings("log.retention.ms", "5")) == expected
