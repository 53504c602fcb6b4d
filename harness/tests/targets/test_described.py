"""A described target: started, given what it can be given, harmed, started again, and ended.

The broker is a small program beside this file, so that a cluster costs a tenth of a second.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from touchstone.harness.model.target import Shape, StartFailed, Target, Unavailable
from touchstone.harness.targets import parse, probe
from touchstone.harness.targets.ports import free_ports

BROKER = Path(__file__).with_name("small_broker.py")
NAMES = """
name = "small"
about = "A program that pretends to be a broker"
version = "1"
"""
RUN = '"{{python}}", "-I", "{program}"'
OF_ALL = '"--ports", "{ports}", "--nodes", "{nodes}", ["--racks", "{racks}"]'
EACH = f'[start]\ncommand = [RUN, {OF_ALL}, "--serve", "{{port}}"]\nbrokers = "any"\n'
WHOLE = f'[start]\ncommand = [RUN, {OF_ALL}]\nbrokers = "any"\nper = "cluster"\n'
ARGUMENTS = EACH.replace('"{port}"]', '"{port}", "{settings}"]')

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def described(tmp_path, monkeypatch):
    """A function that makes a target of a file's text; what it started is ended."""
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    made = []

    def make(text, name="small.toml"):
        path = tmp_path / name
        path.write_text(NAMES + text.replace("RUN", RUN.format(program=BROKER)))
        made.append(parse(str(path)))
        return made[-1]

    yield make
    for target in made:
        target.stop()


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def folder_of(endpoint):
    return endpoint.logs.parent


def seen(endpoint, process="broker-0"):
    return json.loads((folder_of(endpoint) / process / "seen.json").read_text())


def children(endpoint):
    return [node.child for node in endpoint.nodes.values()]


def failure(target, shape=None):
    """The StartFailed of a start, whose logs are removed."""
    with pytest.raises(StartFailed) as failed:
        target.start(shape or Shape())
    logs = re.search(r"logs are in (\S+);", str(failed.value))
    if logs:
        shutil.rmtree(Path(logs[1]).parent)
    return str(failed.value)


def test_it_satisfies_the_protocol_and_starts_nothing_before_it_must(described):
    target = described(EACH)
    assert (target.name, target.kind, target.owned) == ("small", "file", True)
    assert target.available() is None
    assert not target._clusters
    assert isinstance(target, Target)


def test_a_broker_comes_and_goes(described):
    target = described(EACH + "first_node = 7")
    endpoint = target.start(Shape())
    assert dict(endpoint.brokers) == {7: endpoint.bootstrap[0]}
    assert target.advertised() == {18: (0, 0)}
    assert target.release is None
    assert target.start(Shape()) is endpoint
    pids = [child.pid for child in children(endpoint)]
    target.stop()
    target.stop()
    assert all(is_gone(pid) for pid in pids)
    assert not folder_of(endpoint).exists()


def test_brokers_and_racks_are_as_the_shape_wants(described):
    endpoint = described(EACH + "first_node = 1").start(Shape(3, ("a", "b", "a")))
    sight = probe.metadata(endpoint.bootstrap[0])
    assert sight.racks == {1: "a", 2: "b", 3: "a"}
    assert dict(endpoint.brokers) == sight.brokers
    assert {node: child.address for node, child in endpoint.nodes.items()} == sight.brokers


def test_one_process_for_all_brokers_cannot_be_harmed(described):
    endpoint = described(WHOLE).start(Shape(2))
    assert len(endpoint.brokers) == 2
    assert not endpoint.nodes


def test_the_release_may_be_named(described):
    assert described("release = '3.9.2'\n" + EACH).release == "3.9"


@pytest.mark.parametrize(
    ("text", "shape", "reason"),
    [
        (EACH.replace('"any"', "[1, 3]"), Shape(2), "2 brokers are wanted, small can have 1 or 3"),
        (EACH.replace(', ["--racks", "{racks}"]', ""), Shape(2, ("a", "b")), "racks"),
    ],
)
def test_a_shape_that_it_cannot_have_is_unavailable(described, text, shape, reason):
    with pytest.raises(Unavailable, match=reason):
        described(text).start(shape)


def test_a_case_about_one_broker_has_a_larger_cluster_when_there_is_no_smaller(described):
    target = described(EACH.replace('"any"', "3"))
    endpoint = target.start(Shape())
    assert len(endpoint.nodes) == 3
    assert target.start(Shape(3)).nodes == endpoint.nodes


# settings

SETTINGS = {"log.retention.ms": 5, "num.partitions": 2}


def test_settings_as_arguments(described):
    each = "[start.settings]\nas = 'arguments'\neach = ['-c', '{key}={value}']"
    target = described(ARGUMENTS + each)
    words = seen(target.start(Shape(config=SETTINGS)))["argv"]
    assert words[-4:] == ["-c", "log.retention.ms=5", "-c", "num.partitions=2"]


def test_settings_as_variables(described):
    target = described(EACH + "[start.settings]\nas = 'environment'\neach = 'KAFKA_{KEY}={value}'")
    environ = seen(target.start(Shape(config=SETTINGS)))["environ"]
    assert (environ["KAFKA_LOG_RETENTION_MS"], environ["KAFKA_NUM_PARTITIONS"]) == ("5", "2")


def test_settings_in_a_file(described):
    target = described(
        EACH + "[start.files]\n'b.properties' = \"port={port}\\n{settings}\\n\"\n"
        "[start.settings]\nas = 'file'\neach = '{key}={value}'\n"
    )
    endpoint = target.start(Shape(config=SETTINGS))
    written = (folder_of(endpoint) / "broker-0" / "b.properties").read_text()
    port = endpoint.bootstrap[0][1]
    assert written == f"port={port}\nlog.retention.ms=5\nnum.partitions=2\n"


def test_settings_by_the_brokers_own_names(described):
    target = described(
        ARGUMENTS + "[start.settings]\nas = 'arguments'\neach = '--{key}={value}'\n"
        "[start.settings.names]\n'num.partitions' = 'partitions'\n"
    )
    endpoint = target.start(Shape(config=SETTINGS))
    assert seen(endpoint)["argv"][-1] == "--partitions=2"
    assert endpoint.settings["num.partitions"].value == "2", "the other could not be handed over"
    assert "log.retention.ms" not in endpoint.settings


def test_a_cluster_with_everything_that_was_wanted_needs_no_settings_told(described):
    target = described(ARGUMENTS + "[start.settings]\nas = 'arguments'\neach = '{key}={value}'")
    assert target.start(Shape(config=SETTINGS)).settings is None
    assert target.start(Shape()).settings is None


def test_settings_that_cannot_be_handed_over_share_a_cluster(described):
    target = described(EACH + "[settings]\n'num.partitions' = 2\n")
    plain, wanted = target.start(Shape()), target.start(Shape(config=SETTINGS))
    assert plain.nodes == wanted.nodes
    assert {name: setting.value for name, setting in wanted.settings.items()} == {
        "num.partitions": "2"
    }
    assert target.start(Shape(config={"num.partitions": 2})).settings is None


def test_variables_of_the_file_and_none_for_a_rack_that_is_not_there(described):
    target = described(EACH + "environment = {NODE = 'n{node}', RACK = '{rack}'}")
    environ = seen(target.start(Shape()))["environ"]
    assert environ["NODE"] == "n0"
    assert "RACK" not in environ
    assert seen(target.start(Shape(1, ("a",))))["environ"]["RACK"] == "a"


def test_lists_and_other_ports(described):
    target = described(
        EACH.replace('"{port}"]', '"{port}", "{voters}", "{port.raft}", "{ports.raft}"]')
        + "other_ports = ['raft']\nlists = {voters = '{node}@{host}:{port.raft}'}"
    )
    voters, own, every = seen(target.start(Shape(2)), "broker-1")["argv"][-3:]
    first, second = every.split(",")
    assert voters == f"0@127.0.0.1:{first},1@127.0.0.1:{second}"
    assert own == second


def test_what_runs_before_the_brokers_listens_before_they_start(described):
    target = described(
        EACH.replace('"{port}"]', '"{port}", "{port.store}"]')
        + '[[start.before]]\nname = "store"\ncommand = [RUN, "--ports", "{port.store}"]'
    )
    endpoint = target.start(Shape())
    port = seen(endpoint)["argv"][-1]
    assert probe.metadata(("127.0.0.1", int(port)))
    target.stop()
    with pytest.raises(probe.NotReady):
        probe.metadata(("127.0.0.1", int(port)))


def test_a_broker_may_choose_its_ports(described):
    target = described(
        "[start]\ncommand = [RUN]\nper = \"cluster\"\n[ready]\noutput = '^ready (?P<addresses>.*)$'"
    )
    endpoint = target.start(Shape())
    assert probe.metadata(endpoint.bootstrap[0]).brokers == {0: endpoint.bootstrap[0]}


def test_a_broker_is_killed_stopped_and_frozen(described):
    target = described(EACH)
    endpoint = target.start(Shape(2))
    node = endpoint.nodes[1]
    for end in (node.kill, node.stop):
        end()
        assert not node.child.alive
        assert target.start(Shape(2)) is endpoint, "nobody replaces what was ended on purpose"
        node.start()
        assert 1 in probe.metadata(node.address).brokers
    node.pause()
    with pytest.raises(probe.NotReady, match="timed out"):
        probe.api_versions(node.address, seconds=0.1)
    node.resume()
    assert probe.api_versions(node.address)


def test_a_cluster_that_died_is_started_again(described):
    target = described(EACH)
    first = target.start(Shape())
    children(first)[0].kill()  # not through the node: nobody wanted this
    second = target.start(Shape())
    assert probe.metadata(second.bootstrap[0])
    assert not folder_of(first).exists()


def test_a_killed_run_leaves_no_process(tmp_path, described):
    """The broker holds a FIFO open, whose reader sees its end when the broker is gone."""
    os.mkfifo(tmp_path / "fifo")
    holding = f"exec 3>{tmp_path / 'fifo'}; exec "
    run = RUN.format(program=BROKER).replace("{{", "{").replace("}}", "}")
    text = EACH.replace("RUN", f"""'sh', '-c', '{holding} "$@"', 'sh', {run}""")
    described(text)
    program = f"""
        import sys
        from touchstone.harness.model.target import Shape
        from touchstone.harness.targets import parse
        parse({str(tmp_path / "small.toml")!r}).start(Shape())
        print("started", flush=True)
        sys.stdin.read()
    """
    argv = [sys.executable, "-c", textwrap.dedent(program)]
    parent = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with parent, open(tmp_path / "fifo", "rb") as reader:
        assert parent.stdout.readline() == b"started\n"
        parent.kill()
        assert reader.read() == b""


def test_only_so_many_processes_live_at_a_time(described, monkeypatch):
    monkeypatch.setattr("touchstone.harness.targets.described.MOST_PROCESSES", 2)
    target = described(ARGUMENTS + "[start.settings]\nas = 'arguments'\neach = '{key}={value}'")
    shapes = [Shape(config={"num.partitions": count}) for count in (1, 2, 3)]
    alive = [children(target.start(shape))[0] for shape in shapes]
    assert [child.alive for child in alive] == [False, True, True]


def test_a_command_that_ends_is_told_with_its_log_and_tried_twice(described, tmp_path):
    target = described('[start]\ncommand = [RUN, "--die"]')
    said = failure(target)
    head, *log = said.splitlines()
    ended = "small: broker-0 ended with 1 before it was ready; it was started as"
    assert head.startswith(f"tried twice: {ended}")
    assert f"[start] of {tmp_path / 'small.toml'} says" in head
    assert "it was told to die" in log[0]
    with pytest.raises(StartFailed) as again:
        target.start(Shape())
    assert str(again.value) == said, "a start that failed costs its deadline once"
    with pytest.raises(Unavailable, match="ended with 1"):
        target.advertised()
    assert target.release is None


def test_a_command_that_ends_once_is_started_again(described, tmp_path):
    words = f'"--serve", "{{port}}", "--die-once", "{tmp_path / "died"}"'
    target = described(EACH.replace('"--serve", "{port}"', words))
    assert len(target.start(Shape(2)).brokers) == 2 and (tmp_path / "died").exists()


@pytest.mark.parametrize(
    ("text", "seconds", "why"),
    [
        (EACH.replace('"{port}"', '"0"'), 0.1, "does not answer ApiVersions and Metadata"),
        (EACH + "[ready]\noutput = '^done'", 0.1, r"it wrote nothing like ready.output '\^done'"),
        pytest.param(
            EACH.replace('"{nodes}"', '"4"'), 3, r"names 1 of 2 brokers", marks=pytest.mark.slow
        ),
    ],
)
def test_what_never_gets_ready_says_what_is_lacking(described, text, seconds, why):
    ready = "" if "[ready]" in text else "[ready]\n"
    target = described(f"{text}\n{ready}seconds = {seconds}\n")
    said = failure(target, Shape(2)).splitlines()[0]
    assert re.search(rf"was not ready in {seconds} s \(ready\.seconds\): .*{why}", said)


def test_addresses_that_are_none(described):
    target = described(
        '[start]\ncommand = [RUN]\nper = "cluster"\n[ready]\noutput = "^(?P<addresses>ready)"'
    )
    assert "wrote no addresses for ready.output" in failure(target)


def test_a_port_in_use_names_the_key(described, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        port = somebody.getsockname()[1]
        said = failure(described(f"{EACH}\nport = {port}"))
    assert said == (
        f"small: 127.0.0.1:{port} cannot be used (Address already in use): end what listens there,"
        f" or change start.port in {tmp_path / 'small.toml'}"
    )


def test_a_fixed_port_is_used_by_one_cluster_after_the_other(described):
    (port,) = free_ports(1)
    target = described(f"{EACH}\nport = {port}")
    first = target.start(Shape())
    assert first.bootstrap == (("127.0.0.1", port),)
    second = target.start(Shape(1, ("a",)))
    assert second.bootstrap == first.bootstrap
    assert probe.metadata(second.bootstrap[0]).racks == {0: "a"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('command = ["no-such-broker"]', "no program 'no-such-broker' (start.command of "),
        ('command = ["true"]\nneeds = ["no-such-tool"]', "no no-such-tool"),
        ('command = ["true"]\nneeds = ["python:no_such"]', "no Python package 'no_such'"),
    ],
)
def test_a_missing_tool_is_a_reason(described, text, reason):
    target = described(f"[start]\n{text}")
    assert target.available().startswith(reason)
    with pytest.raises(Unavailable, match=re.escape(reason)):
        target.start(Shape())


# build

BUILD = '[build]\ncommands = [["sh", "-c", "echo built >> {cache}/built"]]\n'
FROM_CACHE = EACH.replace('"{port}"]', '"{port}", "{cache}/built"]')


def test_a_build_is_done_once(described):
    endpoint = described(BUILD + FROM_CACHE).start(Shape())
    built = Path(seen(endpoint)["argv"][-1])
    assert built.read_text() == "built\n"
    assert described(BUILD + FROM_CACHE).available() is None
    assert built.read_text() == "built\n"


def test_a_build_starts_from_its_files_and_again_when_they_change(described, tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "word").write_text("first")
    text = f'[build]\nfiles = "source"\ncommands = [["cp", "word", "built"]]\n{FROM_CACHE}'
    for word in ("first", "second"):
        (tmp_path / "source" / "word").write_text(word)
        target = described(text)
        assert Path(seen(target.start(Shape()))["argv"][-1]).read_text() == word
        target.stop()


@pytest.mark.parametrize(
    ("commands", "reason"),
    [
        (
            '[["true"], ["sh", "-c", "echo error: no crate; exit 3"]]',
            "small.toml: build.commands[1] ended with 3: error: no crate",
        ),
        pytest.param(
            '[["sleep", "60"]]\nseconds = 1',
            "build.commands[0] was not done in 1 s",
            marks=pytest.mark.slow,
        ),
        ('[["no-such-tool"]]', "build.commands[0]: no-such-tool: No such file or directory"),
        ('[["true"]]\nneeds = ["go-not-here"]', "no go-not-here"),
    ],
)
def test_a_build_that_fails_is_a_reason(described, tmp_path, commands, reason):
    target = described(f"[build]\ncommands = {commands}\n{EACH}")
    assert reason in target.available()
    left = [path.name for path in (tmp_path / "cache").iterdir()]
    assert all(name.endswith(".lock") for name in left)


def test_an_address_is_taken_as_it_is(described, tmp_path):
    theirs = described(WHOLE, "theirs.toml").start(Shape(2))
    at = ",".join(f"{host}:{port}" for host, port in theirs.bootstrap)
    target = described(f"address = '{at}'\n[settings]\n'num.partitions' = 2", "ours.toml")
    assert not target.owned
    assert target.available() is None
    endpoint = target.start(Shape(2))
    assert dict(endpoint.brokers) == dict(theirs.brokers)
    assert endpoint.settings["num.partitions"].value == "2"
    assert not endpoint.nodes
    target.stop()
    assert probe.metadata(theirs.bootstrap[0])


def test_an_address_is_harmed_by_commands(described, tmp_path):
    theirs = described(WHOLE, "theirs.toml").start(Shape())
    host, port = theirs.bootstrap[0]
    verbs = "\n".join(
        f"{verb} = ['sh', '-c', 'echo {verb} {{node}} {{port}} >> {{here}}/said']"
        for verb in ("start", "kill", "pause", "resume")
    )
    target = described(f"address = '{host}:{port}'\n[control]\n{verbs}", "ours.toml")
    node = target.start(Shape()).nodes[0]
    for verb in (node.kill, node.start, node.pause, node.resume):
        verb()
    said = (tmp_path / "said").read_text().splitlines()
    assert said == [f"{verb} 0 {port}" for verb in ("kill", "start", "pause", "resume")]
    with pytest.raises(Unavailable, match=r"no control\.stop of .*ours\.toml"):
        node.stop()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("['sh', '-c', 'echo no such container >&2; exit 4']", "ended with 4: no such container"),
        ("['no-such-tool']", "no-such-tool: No such file"),
    ],
)
def test_a_command_that_fails_names_its_key(described, command, why):
    theirs = described(WHOLE, "theirs.toml").start(Shape())
    host, port = theirs.bootstrap[0]
    target = described(f"address = '{host}:{port}'\n[control]\nkill = {command}", "ours.toml")
    with pytest.raises(StartFailed, match=rf"control\.kill of .*ours\.toml.*{why}"):
        target.start(Shape()).nodes[0].kill()


@pytest.mark.slow
def test_the_reference_broker_by_a_file(described):
    """All of it together, on a broker that serves everything."""
    target = described(
        '[start]\ncommand = ["{python}", "-m", "{harness}", "broker", "--brokers", "{brokers}",'
        ' "--port", "0", ["--racks", "{racks}"], "{settings}"]\nbrokers = "any"\nper = "cluster"\n'
        '[start.settings]\nas = "arguments"\neach = ["--config", "{key}={value}"]\n'
        "[ready]\noutput = '^ready (?P<addresses>.*)$'\ncontroller = true\n"
    )
    endpoint = target.start(Shape(3, ("a", "b", "c"), {"num.partitions": 3}))
    assert list(endpoint.racks) == ["a", "b", "c"]
    assert target.release == "4.3"
    assert target.settings()["num.partitions"].value == "3"
