"""Rows, and the formats made of them: equal totals, and nothing incomplete passes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections import Counter
from typing import get_type_hints

import pytest

from touchstone.harness.judgement.compare import Difference
from touchstone.harness.judgement.verdict import Verdict
from touchstone.harness.model.case_row import CaseRow
from touchstone.harness.model.claim import CaseId, claim, claim_of
from touchstone.harness.model.finding import Finding
from touchstone.harness.results import jsonl, junit, rows
from touchstone.harness.results.jsonl import BadResults

HEADER = rows.header(
    run="20261121T000000-x", started="2026-11-21T00:00:00+00:00", target="127.0.0.1:9092",
    release="4.3", kind="external", oracle="recorded@4.3", oracle_kind="recorded", commit="abc",
    seed=0, host={"python": "3.13", "platform": "x"}, planned=6,
)  # fmt: skip


@claim("topics.some-claim", evidence=("TOPIC-11",), api="CreateTopics")
def demo(case):
    """A sentence with <angle brackets> & more."""


CLAIM = claim_of(demo)
ODD = Difference("create", "topics[0].name", b"\xff\0", "\ud800 \x00 <&>",
                 api="CreateTopics", version=5)  # fmt: skip
VERDICTS = [
    Verdict("CONFORMS"),
    Verdict("UNSUPPORTED", reason="not listed and refused"),
    Verdict("INCONCLUSIVE", reason="not run: no Java"),
    Verdict("DIVERGES", "closed", "create: \x00 differs", differences=(ODD,)),
    Verdict("DIVERGES", reason="known", findings=(Finding("framing", "a", "", "odd"),), known="k1"),
    Verdict("BROKEN", reason="ZeroDivisionError", stack="Traceback"),
]


def some_rows():
    return [
        rows.case(CaseId(CLAIM, version, {"acks": -1}), verdict, target="127.0.0.1:9092",
                  release="4.3", duration_ms=1.5, transcript=None)
        for version, verdict in enumerate(VERDICTS, 2)
    ]  # fmt: skip


def write(path, upto=None):
    with jsonl.Writer(path, HEADER) as writer:
        for row in some_rows():
            writer.case(row)
        writer.finish(finished="2026-11-21T00:00:09+00:00", exit_code=2)
    return path


def test_a_file_reads_back(tmp_path):
    found = jsonl.read(write(tmp_path / "a.jsonl"))
    assert found.header == HEADER and list(found.cases) == some_rows()
    assert found.footer["cases"] == 6 and found.footer["exit"] == 2
    assert found.footer["by_verdict"]["DIVERGES"] == 2


@pytest.mark.slow
def test_a_file_cut_at_any_byte_is_refused_by_name_and_line(tmp_path):
    data = write(tmp_path / "a.jsonl").read_bytes()
    cut = tmp_path / "cut.jsonl"
    for keep in range(len(data)):
        cut.write_bytes(data[:keep])
        with pytest.raises(BadResults, match=r"cut\.jsonl:\d+: ") as caught:
            jsonl.read(cut)
        assert caught.value.line == max(1, data[:keep].count(b"\n") + (data[:keep][-1:] != b"\n"))


def test_what_was_judged_before_the_cut_can_be_asked_for(tmp_path):
    data = write(tmp_path / "a.jsonl").read_bytes()
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(data[: len(data) // 2])
    found = jsonl.read(cut, incomplete=True)
    assert found.footer is None and 0 < len(found.cases) < 6


def doctored(tmp_path, change):
    lines = write(tmp_path / "a.jsonl").read_text().splitlines(keepends=True)
    path = tmp_path / "doctored.jsonl"
    path.write_text("".join(change(lines)))
    return path


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda ls: [*ls[:2], *ls[3:]], "the footer counts"),
        (lambda ls: [*ls[:2], *ls[1:]], "stands on line 2"),
        (lambda ls: ls[1:], "no header"),
        (lambda ls: [*ls, ls[1]], "behind the footer"),
        (lambda ls: [ls[0].replace('"schema":1', '"schema":9'), *ls[1:]], "schema 9"),
        (lambda ls: [ls[0], ls[1].replace("CONFORMS", "PASSED"), *ls[2:]], "no such verdict"),
        (lambda ls: [ls[0], ls[1].replace("127.0.0.1", "10.0.0.1"), *ls[2:]], "a row of"),
        (lambda ls: [ls[0], "[]\n", *ls[1:]], "not a row"),
        (lambda ls: [ls[0], ls[0], *ls[1:]], "'header' row"),
        (lambda ls: [ls[0], '{"row":"case"}\n', *ls[1:]], "without 'claim'"),
    ],
)
def test_a_doctored_file_is_refused(tmp_path, change, complaint):
    with pytest.raises(BadResults, match=complaint):
        jsonl.read(doctored(tmp_path, change))


def test_a_file_is_never_written_over(tmp_path):
    write(tmp_path / "a.jsonl")
    with pytest.raises(FileExistsError):
        jsonl.Writer(tmp_path / "a.jsonl", HEADER)


def test_a_finished_file_takes_no_more_rows(tmp_path):
    writer = jsonl.Writer(tmp_path / "a.jsonl", HEADER)
    writer.finish(finished="x", exit_code=0)
    with pytest.raises(ValueError, match="closed"):
        writer.case(some_rows()[0])


def test_rows_have_exactly_the_fields_that_are_declared():
    assert all(list(row) == list(rows.CASE) for row in some_rows())
    assert list(get_type_hints(CaseRow)) == list(rows.CASE)


def test_any_value_becomes_json():
    odd = {"a": b"\xff", 1: (float("nan"), {"x": None}), "t": "\udcff", "o": object}
    json.dumps(rows.plain(odd), allow_nan=False).encode()
    assert rows.plain(b"\xff\0") == "0xff00"


def test_all_formats_have_the_same_totals(tmp_path):
    path = write(tmp_path / "a.jsonl")
    found = jsonl.read(path)
    counted = Counter(row["verdict"] for row in found.cases)
    root = ET.fromstring(junit.dumps([(found.header, found.cases)]))
    assert int(root.get("tests")) == found.footer["cases"] == 6
    assert int(root.get("errors")) == counted["BROKEN"] == 1
    assert int(root.get("failures")) == 1, "a pinned one is skipped"
    assert int(root.get("skipped")) == 3 and counted["CONFORMS"] == 1
    assert {k: n for k, n in found.footer["by_verdict"].items() if n} == dict(counted)


def test_differences_are_failures_and_our_mistakes_errors():
    root = ET.fromstring(junit.dumps([(HEADER, some_rows())]))
    cases = {case.get("name"): case for case in root.iter("testcase")}
    names = {name: [child.tag for child in case] for name, case in cases.items()}
    assert names["topics.some-claim[v2,acks=-1]"] == []
    assert names["topics.some-claim[v5,acks=-1]"] == ["failure"]
    assert names["topics.some-claim[v6,acks=-1]"] == ["skipped"], "a known one is no failure"
    assert names["topics.some-claim[v7,acks=-1]"] == ["error"]
    failure = cases["topics.some-claim[v5,acks=-1]"].find("failure")
    assert "Kafka 4.3   answers 0xff00" in failure.text and "angle brackets" in failure.text
    assert failure.get("message").startswith("[CreateTopics.topics.name:text] CreateTopics v5: ")


def test_a_suite_lists_its_causes():
    (suite,) = ET.fromstring(junit.dumps([(HEADER, some_rows())])).iter("testsuite")
    told = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert "Kafka 4.3 answers 0xff00" in told["cause CreateTopics.topics.name:text"]
    assert "CreateTopics v5: topics[*].name: Kafka 4.3" in suite.find("system-out").text


JUNIT_XSD = """<?xml version="1.0"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
 <xs:attributeGroup name="counts">
  <xs:attribute name="tests" type="xs:nonNegativeInteger" use="required"/>
  <xs:attribute name="failures" type="xs:nonNegativeInteger" use="required"/>
  <xs:attribute name="errors" type="xs:nonNegativeInteger" use="required"/>
  <xs:attribute name="skipped" type="xs:nonNegativeInteger" use="required"/>
 </xs:attributeGroup>
 <xs:complexType name="problem"><xs:simpleContent><xs:extension base="xs:string">
  <xs:attribute name="type" type="xs:string"/><xs:attribute name="message" type="xs:string"/>
 </xs:extension></xs:simpleContent></xs:complexType>
 <xs:element name="testsuites"><xs:complexType>
  <xs:sequence><xs:element name="testsuite" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
   <xs:sequence>
    <xs:element name="properties"><xs:complexType><xs:sequence>
     <xs:element name="property" maxOccurs="unbounded"><xs:complexType>
      <xs:attribute name="name" type="xs:string" use="required"/>
      <xs:attribute name="value" type="xs:string" use="required"/>
     </xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
    <xs:element name="testcase" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
     <xs:choice minOccurs="0">
      <xs:element name="skipped" type="problem"/><xs:element name="failure" type="problem"/>
      <xs:element name="error" type="problem"/></xs:choice>
     <xs:attribute name="classname" type="xs:string" use="required"/>
     <xs:attribute name="name" type="xs:string" use="required"/>
     <xs:attribute name="time" type="xs:decimal" use="required"/>
    </xs:complexType></xs:element>
    <xs:element name="system-out" minOccurs="0" type="xs:string"/>
   </xs:sequence>
   <xs:attributeGroup ref="counts"/>
   <xs:attribute name="name" type="xs:string" use="required"/>
   <xs:attribute name="timestamp" type="xs:dateTime" use="required"/>
   <xs:attribute name="hostname" type="xs:string" use="required"/>
   <xs:attribute name="time" type="xs:decimal" use="required"/>
  </xs:complexType></xs:element></xs:sequence>
  <xs:attributeGroup ref="counts"/><xs:attribute name="name" type="xs:string"/>
 </xs:complexType></xs:element>
</xs:schema>"""


def test_junit_is_valid_xml_of_the_usual_schema():
    xmlschema = pytest.importorskip("xmlschema")
    schema = xmlschema.XMLSchema(JUNIT_XSD)
    schema.validate(junit.dumps([(HEADER, some_rows())]).decode())
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        schema.validate("<testsuites tests='many' failures='0' errors='0' skipped='0'/>")
