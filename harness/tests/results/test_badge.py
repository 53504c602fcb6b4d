"""The badge of a run: what it says, its colour, and that the picture is one."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from touchstone.harness.known import FIXED, Surprise
from touchstone.harness.results import badge, run_folder, sums
from touchstone.harness.results.summary import Report
from touchstone.harness.tests.results import runs
from touchstone.harness.tests.spark.made import case_row, header, results

TARGET = "kfake@4.3"


def report(codes, target=TARGET):
    rows = [case_row(f"topics.a[v{at}]", code, target) for at, code in enumerate(codes)]
    return Report(header("run-21", target, len(rows)), rows)


@pytest.mark.parametrize(
    ("codes", "message", "colour"),
    [
        ("CCC", "3 of 3 conform", badge.GREEN),
        ("CCI", "2 of 2 conform", badge.GREEN),
        ("CCK", "2 of 3 conform", badge.YELLOW),
        ("CDD", "1 of 3 conform, 1 cause", badge.RED),
        ("CCB", "harness broke", badge.GREY),
        ("IU", "nothing judged", badge.GREY),
        ("", "nothing judged", badge.GREY),
    ],
)
def test_what_a_badge_says(codes, message, colour):
    assert badge.of([report(codes)]) == badge.Badge("Kafka 4.3", message, colour)


def test_a_pin_that_is_no_longer_true_is_not_green():
    found = report("CC")
    news = Report(found.header, found.rows, [Surprise(FIXED, "pin/1", "it conforms")])
    assert badge.of([news]).colour == badge.YELLOW


def test_targets_of_several_releases_are_of_kafka():
    both = [report("CC"), report("CD", "other@2.8")]
    assert badge.of(both) == badge.Badge("Kafka", "3 of 4 conform, 1 cause", badge.RED)


def test_the_picture_is_xml_and_says_the_words():
    made = badge.Badge("Kafka <4>", "1 & 2", badge.GREEN)
    root = ET.fromstring(badge.svg(made))
    texts = [node.text for node in root.iter() if node.tag.endswith("}text")]
    assert texts == ["Kafka <4>", "1 & 2"]
    wide = ET.fromstring(badge.svg(badge.Badge("Kafka <4>", "1 & 2 and more", badge.GREEN)))
    assert float(wide.get("width")) > float(root.get("width"))


def test_a_server_of_badges_can_read_it():
    told = json.loads(badge.endpoint(badge.of([report("CC")])))
    assert told == {
        "schemaVersion": 1, "label": "Kafka 4.3", "message": "2 of 2 conform", "color": "2e7d32",
    }  # fmt: skip


def test_a_run_leaves_its_badge_with_its_checksum(tmp_path):
    path = results(tmp_path, "run-21", runs.TARGET, {"topics.a[v1]": "C"})
    run_folder.write(path.parent)
    assert "1 of 1 conform" in (path.parent / "badge.svg").read_text()
    assert json.loads((path.parent / "badge.json").read_text())["message"] == "1 of 1 conform"
    assert "badge.svg" in (path.parent / sums.NAME).read_text()
