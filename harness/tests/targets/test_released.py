"""Any version of Kafka, by a word: which one it is, and what follows from its number.

`maven_versions.json` is what Maven told on 2026-11-28 of the brokers for Scala 2.12 and 2.13.
"""

import json
import os
import tomllib
from pathlib import Path

import pytest

from touchstone.harness.model.target import Shape
from touchstone.harness.targets import matrix, maven, parse, released, settings
from touchstone.harness.targets.matrix import UnknownRelease
from touchstone.harness.targets.process import KafkaProcess
from touchstone.harness.targets.release import OLDEST, Release, number
from touchstone.harness.tests.targets.test_missing_tools import java_says, pretend

MAVENS = json.loads((Path(__file__).parent / "maven_versions.json").read_text("utf-8"))
VERSIONS = {one for of in MAVENS.values() for one in of if number(one) >= OLDEST}
TOOLS = "org.apache.kafka:kafka-tools:"
LOG4J, LOG4J_2 = "org.slf4j:slf4j-log4j12", "org.apache.logging.log4j:log4j-slf4j-impl"
ZOOKEEPER = "org.apache.zookeeper:zookeeper"


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """How often Maven was asked; it tells of a 4.4.1, and of a 5.0.0."""
    times = []

    def tells():
        times.append(1)
        return ["4.4.0", "4.4.1", "5.0.0"]

    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path))
    monkeypatch.setattr(released, "of_maven", tells)
    with_persona = matrix.releases()
    monkeypatch.setattr(matrix, "recorded", lambda: with_persona)
    return times


def test_what_was_out_is_what_maven_told():
    assert released.out() == VERSIONS


@pytest.mark.parametrize("version", sorted(VERSIONS, key=number))
def test_maven_has_the_broker_of_every_version(version):
    group, broker, wanted = Release(version).artifacts[0].split(":")
    assert group == "org.apache.kafka" and wanted == version
    assert version in MAVENS[broker]


@pytest.mark.parametrize(
    ("first", "last", "scala", "kraft", "beside"),
    [
        ("1.0.0", "1.1.1", "2.12", False, {LOG4J}),
        ("2.0.0", "2.3.1", "2.12", False, {LOG4J, ZOOKEEPER}),
        ("2.4.0", "3.2.3", "2.13", False, {LOG4J}),
        ("3.3.0", "3.9.2", "2.13", True, {LOG4J}),
        ("4.0.0", "5.1.0", "2.13", True, {LOG4J_2, "org.apache.kafka:kafka-tools"}),
    ],
)
def test_what_a_version_needs_follows_from_its_number(first, last, scala, kraft, beside):
    within = {one for one in VERSIONS if number(first) <= number(one) <= number(last)}
    for release in map(Release, {first, last} | within):
        assert (release.scala, release.kraft) == (scala, kraft)
        names = {artifact.rpartition(":")[0] for artifact in release.artifacts[1:]}
        assert names == beside
        tools = [one for one in release.artifacts if one.startswith(TOOLS)]
        assert tools in ([], [TOOLS + release.version])


def test_what_is_recorded_runs_on_the_jars_that_it_was_recorded_with():
    """Other artifacts would be another folder of jars, and other answers perhaps."""
    assert matrix.release("2.2").artifacts == (
        "org.apache.kafka:kafka_2.12:2.2.1", "org.slf4j:slf4j-log4j12:1.7.25",
        "org.apache.zookeeper:zookeeper:3.5.9",
    )  # fmt: skip
    assert matrix.release("4.3").artifacts == (
        "org.apache.kafka:kafka_2.13:4.3.1",
        "org.apache.logging.log4j:log4j-slf4j-impl:2.25.1", "org.apache.kafka:kafka-tools:4.3.1",
    )  # fmt: skip


def test_the_matrix_names_minor_releases():
    for entry in tomllib.loads(matrix.MATRIX.read_text("utf-8"))["release"]:
        assert Release(entry["version"]).name == entry["name"]


@pytest.mark.parametrize("word", ["3.6.2", "1.0.0", "2.8.0", "4.4.0"])
def test_a_patch_that_is_out_needs_no_question(asked, word):
    assert released.find(word).version == word
    assert not asked


@pytest.mark.parametrize(
    ("word", "version"), [("3.6", "3.6.2"), ("4.4", "4.4.1"), ("4.4.1", "4.4.1"), ("5.0", "5.0.0")]
)
def test_maven_says_which_is_the_newest(asked, word, version):
    assert released.find(word).version == version
    assert released.find(word).version == version
    assert len(asked) == 1, "and is asked once a day"


def test_a_list_of_yesterday_is_asked_for_anew(asked, tmp_path):
    released.find("4.4")
    kept = tmp_path / released.KEPT
    os.utime(kept, (0, kept.stat().st_mtime - released.DAY_S - 1))
    released.find("4.4")
    assert len(asked) == 2


def test_a_version_that_a_list_of_today_lacks_may_be_out_since(asked, tmp_path):
    kept = tmp_path / released.KEPT
    kept.write_text("4.4.0\n")
    os.utime(kept, (0, kept.stat().st_mtime - released.JUST_NOW_S - 1))
    assert released.find("4.4.1").version == "4.4.1"
    with pytest.raises(UnknownRelease):
        released.find("4.4.2")
    assert len(asked) == 1


def test_a_recorded_release_is_the_patch_that_is_recorded(asked):
    assert released.find("2.2").version == "2.2.1", "though a 2.2.2 is out"
    assert released.find("latest") == matrix.release("latest")
    assert not asked


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("3.6.9", "3.6.0, 3.6.1, 3.6.2"),
        ("2.9", "2.8.2, 3.0.0"),
        ("0.11", "1.0.0"),
        ("9.9.1", "5.0.0"),
    ],
)
def test_a_version_that_is_not_out_is_told_with_the_nearest(asked, word, near):
    with pytest.raises(UnknownRelease, match=rf"Kafka '{word}' is no version .* nearest: {near}$"):
        released.find(word)
    assert len(asked) == 1


def test_without_a_maven_it_is_said_that_nobody_was_asked(tmp_path, monkeypatch):
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert released.find("3.6").version == "3.6.2"
    with pytest.raises(UnknownRelease, match=r"nearest: 4.4.0 \(Maven was not asked: no Maven\)$"):
        released.find("9.9")


def test_the_list_is_read_where_maven_keeps_it(tmp_path, monkeypatch):
    """A Maven of somebody's own: another folder, a mirror's name, versions of before 1.0."""
    tools, kept = tmp_path / "tools", tmp_path / "own" / "org/apache/kafka/kafka-clients"
    tools.mkdir()
    (kept / "1.0.0").mkdir(parents=True)
    told = ["0.11.0.3", "1.0.0", "3.6.2", "4.0.0-rc1", "4.4.0"]
    versions = "".join(f"<version>{one}</version>" for one in told)
    (kept / "maven-metadata-my-mirror.xml").write_text(
        f"<metadata><versioning><versions>{versions}</versions></versioning></metadata>"
    )
    pretend(tools, "java", java_says("17.0.1"))
    pretend(
        tools,
        "mvn",
        f'for word in "$@"; do case $word in -Dmdep.outputFile=*) printf %s '
        f'{kept}/1.0.0/kafka-clients-1.0.0.pom > "${{word#*=}}";; esac; done',
    )
    monkeypatch.setenv("PATH", f"{tools}:/bin:/usr/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert released.of_maven() == ["1.0.0", "3.6.2", "4.4.0"]


@pytest.fixture
def jars(tmp_path):
    """A distribution as Kafka's build makes it, with empty jars; a plus in its name."""
    libs = tmp_path / "kafka+mine" / "libs"
    libs.mkdir(parents=True)
    names = ("kafka_2.13-4.5.0-SNAPSHOT", "kafka_2.13-4.5.0-SNAPSHOT-sources", "kafka-clients-4.5")
    for name in names:
        (libs / f"{name}.jar").touch()
    return libs


@pytest.mark.parametrize("up", [False, True])
def test_a_folder_of_jars_is_a_version_of_its_own(jars, up):
    target = parse(f"kafka@{jars.parent if up else jars}")
    assert target.name == f"kafka@{jars}"
    assert target.release is None
    assert target.kafka.version == "4.5.0-SNAPSHOT" and target.kafka.number == (4, 5, 0)
    assert maven.kafka_home(target.kafka) == jars
    assert maven.broker_jar(target.kafka)[0] == "kafka_2.13-4.5.0-SNAPSHOT.jar"


def test_a_folder_of_a_recorded_release_is_held_against_it(jars):
    (jars / "kafka_2.13-4.5.0-SNAPSHOT.jar").rename(jars / "kafka_2.13-4.3.2.jar")
    assert parse(f"kafka@{jars}").release == "4.3"


def test_jars_that_are_replaced_are_another_build(jars):
    target = KafkaProcess(str(jars))
    before = target.build
    assert before.startswith("4.5.0-SNAPSHOT folder-") and target.build == before
    (jars / "kafka-clients-4.5.jar").write_text("new")
    assert target.build != before


def test_a_folder_with_two_brokers_says_so(jars):
    (jars / "kafka_2.12-3.9.0.jar").touch()
    with pytest.raises(UnknownRelease, match=r"several brokers in it, kafka_2.12-3.9.0.jar and "):
        released.of_folder(str(jars))


def test_a_broker_of_today_gets_the_settings_of_the_newest():
    release = Release("5.0.0")
    keeper = settings.MetadataAddress(controller=("h", 1), bind=("h", 1))
    at = settings.Listening(("h", 2), ("h", 2))
    got = settings.broker(release, Shape(), 0, data="d", listening=at, keeper=keeper)
    assert got["process.roles"] == "broker,controller" and "zookeeper.connect" not in got
