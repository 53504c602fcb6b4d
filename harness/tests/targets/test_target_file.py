"""A target file is checked before anything runs; a mistake is one line that says what to mend."""

import datetime
import re
import tomllib

import pytest

from touchstone.harness.targets import (
    SHIPPED,
    UnknownTarget,
    description,
    parse,
    shipped,
    target_file,
)

GOOD = """
name = "some"
about = "Somebody's broker"
version = "1.2"
[start]
command = ["broker", "--port", "{port}"]
"""
ADDRESS = """
name = "some"
about = "Somebody's broker"
version = "1.2"
address = "localhost:9092"
"""


@pytest.fixture
def written(tmp_path):
    """A function that writes a target file and gives its path."""

    def write(text):
        path = tmp_path / "some.toml"
        path.write_text(text)
        return path

    return write


def test_a_small_file_has_the_defaults(written):
    found = target_file.load(written(GOOD))
    assert (found.name, found.version, found.release, found.tried) == ("some", "1.2", None, None)
    assert found.start.command == ("broker", "--port", "{port}")
    assert (found.start.per, found.start.brokers, found.start.takes_racks) == (
        "broker", (1,), False,
    )  # fmt: skip
    assert found.ready == description.Ready()


def test_a_command_may_be_one_text(written):
    found = target_file.load(written(GOOD.replace('["broker", "--port", "{port}"]', "'a \"b c\"'")))
    assert found.start.command == ("a", "b c")


def test_an_address_is_enough(written):
    found = target_file.load(written(ADDRESS + "[control]\nkill = 'docker kill k{node}'"))
    assert found.address == (("localhost", 9092),)
    assert found.control == {"kill": ("docker", "kill", "k{node}")}


@pytest.mark.parametrize("day", ['"2026-11-22"', "2026-11-22"])
def test_the_day_it_was_tried(written, day):
    found = target_file.load(written(f"tried = {day}\n{GOOD}"))
    assert found.tried == datetime.date(2026, 11, 22)


@pytest.mark.parametrize(
    ("key", "text", "mistake"),
    [
        # top
        ("nmae", f"nmae = 'x'\n{GOOD}", "no such key; did you mean name?"),
        ("colour", f"colour = 'x'\n{GOOD}", "no such key; there are name, about, version"),
        ("name", GOOD.replace('"some"', '""'), "give letters, digits, dots and dashes, not ''"),
        ("version", GOOD.replace('"1.2"', "1.2"), "give a text, not 1.2"),
        ("about", GOOD.replace("about", "#"), "it is missing; every target file has it"),
        ("release", f"release = '9.9'\n{GOOD}", "give a release (Kafka '9.9' is not in"),
        ("tried", f"tried = 'soon'\n{GOOD}", "give a day, as \"2026-11-22\", not 'soon'"),
        ("pins", f"pins = 'no.toml'\n{GOOD}", "there is no "),
        ("address", GOOD.partition("[start]")[0], "or [start] to start it; there is neither"),
        ("address", f"address = 'a:1'\n{GOOD}", "or [start] to start it; not both"),
        ("address", ADDRESS.replace(":9092", ""), "give HOST:PORT[,HOST:PORT], not 'localhost'"),
        ("settings", f"settings = ['a']\n{GOOD}", "give a table of names and texts"),
        # control
        ("control.kil", ADDRESS + "[control]\nkil = 'a'", "did you mean control.kill?"),
        ("control.kill", ADDRESS + "[control]\nkill = []", "give a command, as "),
        ("control.kill", ADDRESS + "[control]\nkill = 'k {prot}'", "{prot} is no placeholder"),
        ("control", GOOD + "[control]\nkill = 'k'", "it is for what runs already: give address"),
        # build
        ("build", ADDRESS + "[build]\ncommands = [['a']]", "there is no [start] that would use"),
        ("build.commands", GOOD + "[build]\nneeds = ['go']", "it is missing; [build] needs it"),
        ("build.commands", GOOD + "[build]\ncommands = ['a']", None),
        ("build.commands[0]", GOOD + "[build]\ncommands = [['a', '{port}']]", "{port} is no place"),
        ("build.files", GOOD + "[build]\nfiles = 'no'\ncommands = [['a']]", "there is no "),
        # start
        ("start.comand", GOOD + "comand = ['a']", "no such key; did you mean start.command?"),
        ("start.command", GOOD.replace("command", "#"), "it is missing; give a command, or an"),
        ("start.command", GOOD.replace("{port}", "{prot}"), "did you mean {port}?"),
        ("start.port", GOOD + "port = '9092'", "give a whole number from 1 to 65535, not '9092'"),
        ("start.port", GOOD + "port = 70000", "give a whole number from 1 to 65535, not 70000"),
        ("start.port", GOOD + "port = true", "give a whole number from 1 to 65535, not True"),
        ("start.per", GOOD + "per = 'node'", "give one of broker, cluster, not 'node'"),
        ("start.brokers", GOOD + "brokers = 0", 'give how many it can have: 3, [1, 3] or "any"'),
        ("start.needs", GOOD + "needs = 'go'", "give a list of texts, not 'go'"),
        ("start.publish", GOOD + "publish = ['1:1']", "only an image has ports to publish"),
        ("start.environment.A", GOOD + "environment = {A = '{b}'}", "{b} is no placeholder"),
        ("start", GOOD.replace('"broker"', '"{cache}/b"'), "there is no [build] that fills it"),
        ("release", GOOD.replace('"broker"', '"{release}"'), "it is missing, and {release} is"),
        ("start.before.name", GOOD + "[[start.before]]\ncommand = 'a'", "it is missing"),
        # settings
        ("start.settings.as", GOOD + "[start.settings]\neach = 'a'", "[start.settings] needs it"),
        (
            "start.settings",
            GOOD + "[start.settings]\nas = 'arguments'\neach = '{key}'",
            'put "{settings}" as a word of its own into start.command',
        ),
        (
            "start.settings",
            GOOD + "[start.settings]\nas = 'file'\neach = '{key}'",
            "put {settings} into a file of [start.files]",
        ),
        (
            "start.settings",
            GOOD.replace("{port}", "{settings}"),
            "{settings} is used, but there is no [start.settings]",
        ),
        (
            "start.settings.each",
            GOOD + "[start.settings]\nas = 'environment'\neach = '{KEY}'",
            'give NAME=VALUE, as "KAFKA_{KEY}={value}"',
        ),
        # ready
        ("ready.seconds", GOOD + "[ready]\nseconds = -1", "give a number of seconds, not -1"),
        ("ready.output", GOOD + "[ready]\noutput = '('", "give a regular expression ("),
        ("ready.controller", GOOD + "[ready]\ncontroller = 1", "give true or false, not 1"),
        ("ready", ADDRESS + "[ready]\nseconds = 5", "it is for what we start"),
        (
            "ready.output",
            GOOD + "[ready]\noutput = '(?P<addresses>.*)'",
            'give start.per = "cluster"',
        ),
    ],
)
def test_a_mistake_is_one_line_with_the_file_and_the_key(written, key, text, mistake):
    path = written(text)
    if mistake is None:
        target_file.load(path)
        return
    with pytest.raises(UnknownTarget) as error:
        parse(str(path))
    said = str(error.value)
    assert said.startswith(f"target file {path}: {key}: ")
    assert mistake in said
    assert "\n" not in said


def test_what_is_not_toml_names_the_line(written):
    path = written("name = \n")
    with pytest.raises(UnknownTarget, match=r"some\.toml: not TOML: .*line 1") as error:
        parse(str(path))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UnknownTarget, match=r"no\.toml: No such file"):
        parse(str(tmp_path / "no.toml"))


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_file_is_right_and_named_as_its_target(name):
    target = parse(name)
    assert (target.name, target.kind, target.owned) == (name, "file", True)
    assert target.described.about[-1] != "."


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_file_names_no_host_and_no_path_of_a_machine(name):
    text = shipped()[name].read_text()
    assert not re.search(r"https?://(?!127\.0\.0\.1)", text)


def test_those_that_nobody_tried_here_need_an_engine():
    """What can be had from a package registry has been tried."""
    untried = {name for name in shipped() if parse(name).described.tried is None}
    images = {name for name in shipped() if parse(name).described.start.image}
    assert untried == images - {"touchstone-image"}  # which is built here (ci/images/broker)


def test_an_unknown_word_is_told_which_files_we_ship():
    with pytest.raises(UnknownTarget, match=r"target file \(NAME\.toml\), or one of ours: .*kfake"):
        parse("kfaek")


def test_the_readme_explains_every_key_and_every_placeholder():
    text = (SHIPPED / "README.md").read_text()
    for table, rows in target_file.SCHEMA.items():
        for key in rows:
            assert f"`{key}`" in text or f"`[{key}]`" in text, f"{table}.{key}"
    for name in description.PLACEHOLDERS:
        assert f"`{{{name}}}`" in text, name


def test_the_readmes_example_is_a_target_file(tmp_path):
    text = (SHIPPED / "README.md").read_text()
    for number, block in enumerate(re.findall(r"```toml\n(.*?)```", text, re.DOTALL)):
        assert tomllib.loads(block)
        path = tmp_path / f"{number}.toml"
        path.write_text(block)
        (tmp_path / "mine.pins.toml").touch()
        assert parse(str(path)).name
