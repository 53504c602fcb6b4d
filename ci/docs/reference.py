"""Reference pages, made from the code: what the code has and a page lacks cannot happen.

Where the code has a name without a sentence (a field of a row, a variable of the environment), the
sentence stands here; `ci/tests/test_docs.py` fails when one is missing or one too many.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import click

import touchstone
from ci.docs.markdown import code, fenced, page, plain, table
from ci.docs.words import ENVIRONMENT, FOOTER, HEADER, KINDS, LISTS, ROW
from touchstone import plugin
from touchstone.harness import exits
from touchstone.harness.__main__ import COMMANDS, variable
from touchstone.harness.judgement import effects, readers
from touchstone.harness.model import pace, profiles
from touchstone.harness.results import causes_json, rows
from touchstone.harness.targets import target_file
from touchstone.harness.targets.description import OF_A_SETTING, PLACEHOLDERS
from touchstone.reference_impl.broker.faults.switches import SWITCHES

METAVARS = {  # click's words for a kind of value, and ours
    "INTEGER": "N", "INTEGER RANGE": "N", "FLOAT": "NUMBER", "FLOAT RANGE": "NUMBER",
    "DIRECTORY": "DIR", "PATH": "PATH",
}  # fmt: skip
EXIT = re.compile(r"\bExit(?: codes?)?:? (\S.*)", re.DOTALL)


def pages() -> dict[str, str]:
    """Path below docs/ -> Markdown."""
    made = {f"reference/commands/{name}.md": command_page(name) for name in COMMANDS}
    return made | {
        "reference/commands/index.md": commands_page(),
        "reference/pytest.md": pytest_page(),
        "reference/target-file.md": target_file_page(),
        "reference/profiles.md": profiles_page(),
        "reference/results.md": results_page(),
        "reference/exit-codes.md": exit_codes_page(),
        "reference/environment.md": environment_page(),
        "reference/python.md": python_page(),
        "reference/defects.md": defects_page(),
    }


# Commands


def command(name: str) -> click.Command:
    """The click command of this name."""
    module, attribute = COMMANDS[name][0].split(":")
    return getattr(import_module(f"touchstone.{module}"), attribute)


def commands_page() -> str:
    listed = [(f"[`touchstone {name}`]({name}.md)", line) for name, (_, line) in COMMANDS.items()]
    return page(
        "# Commands",
        "`python -m touchstone` is the same program as `touchstone`. Every command has `--help`. "
        "Every option can be given as a variable, too: see [environment](../environment.md).",
        table(("command", "what it does"), listed),
        'Bash completes commands and options after `eval "$(_TOUCHSTONE_COMPLETE=bash_source '
        'touchstone)"`; so do zsh and fish (`zsh_source`, `fish_source`).',
        "`touchstone --version` prints the version. The suites are run by pytest: see "
        "[pytest options](../pytest.md). What a command says by its exit code stands in "
        "[exit codes](../exit-codes.md).",
    )


def command_page(name: str) -> str:
    found = command(name)
    with click.Context(found, info_name=f"touchstone {name}") as context:
        usage = found.get_usage(context).removeprefix("Usage: ")
        arguments = [one for one in found.params if isinstance(one, click.Argument)]
        parts = [f"# touchstone {name}", fenced(usage)]
        parts += [plain(text) for text in paragraphs(found.help or COMMANDS[name][1])]
        if arguments:
            parts.append("Arguments: " + ", ".join(map(argument_words, arguments)) + ".")
        heads = ("option", "default", "what it does")
        parts.append(table(heads, (option_row(one, context) for one in options(found))))
    if found.epilog:
        parts.append(fenced(inspect.cleandoc(found.epilog.replace("\b", "")).strip()))
    return page(*parts)


def paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]


def argument_words(one: click.Argument) -> str:
    words = [] if one.required else ["may be left out"]
    words += ["may be repeated"] if one.nargs == -1 else []
    return code((one.name or "").upper()) + (f" ({', '.join(words)})" if words else "")


def options(found: click.Command) -> list[click.Option]:
    return [one for one in found.params if isinstance(one, click.Option)]


def option_row(one: click.Option, context: click.Context) -> tuple[str, str, str]:
    value = "" if one.is_flag else f" {METAVARS.get(named := one.make_metavar(context), named)}"
    if isinstance(one.type, click.Choice):
        value = " WORD"
    spelled = "<br>".join(code(word + value) for word in (*one.opts, *one.secondary_opts))
    return spelled, default_of(one), plain(one.help or "") + limits(one)


def default_of(one: click.Option) -> str:
    """The default as a reader would write it; nothing where there is none or it is off."""
    value = one.default
    if value is None or value is False or isinstance(value, tuple | list):
        return ""
    if isinstance(value, str | int | float):
        return code(str(value))
    return ""


def limits(one: click.Option) -> str:
    """What the type itself refuses."""
    words = []
    if isinstance(one.type, click.Choice):
        words.append("one of " + ", ".join(code(str(each)) for each in one.type.choices))
    low, high = (getattr(one.type, name, None) for name in ("min", "max"))
    if low is not None or high is not None:
        words.append(f"from {low} to {high}" if high is not None else f"at least {low}")
    if one.multiple:
        words.append("may be repeated")
    return f" ({'; '.join(words)})" if words else ""


# pytest


def pytest_page() -> str:
    return page(
        "# pytest options",
        "The suites are run by pytest. Two commands mean the same, the first in a checkout, the "
        "second wherever Touchstone is installed:",
        fenced(
            "pytest suites/topics --target localhost:9092\n"
            "pytest --pyargs touchstone.suites.topics --target localhost:9092",
            "console",
        ),
        "In a run that asks for our suites each option has its short name. In every other run only "
        "the long names exist, so that the plugin does not disturb a project that has options of "
        "the same names.",
        table(
            ("short name", "long name", "what it does"),
            ((short(name, how), code(long_name(name)), plain(how["help"]))
             for name, how in plugin.OPTIONS.items()),
        ),
        "pytest's own options work as usual: `-k` chooses claims by words, `-m \"not harm\"` "
        "leaves out the claims that kill or freeze brokers, `-x` stops at the first difference.",
        "## Exit codes",
        exits_table(),
    )  # fmt: skip


def short(name: str, how: dict[str, Any]) -> str:
    return code(f"--{name} {how['metavar']}" if "metavar" in how else f"--{name}")


def long_name(name: str) -> str:
    return f"--touchstone-{name}"


# Target files


def target_file_page() -> str:
    parts = [
        "# Target file",
        "A target file is TOML and describes one broker or cluster; "
        "[how to write one](../howto/target-file.md) shows two that are whole. A command is a list "
        "of words, or one text that is split as a shell splits it; no shell runs it.",
    ]
    for name, keys in target_file.SCHEMA.items():
        parts.append(f"## [{name}]" if name else "## Top of the file")
        listed = [(code(key), *target_key(name, key)) for key in keys]
        parts.append(table(("key", "what it says", "when absent"), listed))
    placeholders = [(code(f"{{{name}}}"), text) for name, text in PLACEHOLDERS.items()]
    settings = ", ".join(code(f"{{{name}}}") for name in OF_A_SETTING)
    return page(
        *parts,
        "## Placeholders",
        table(("placeholder", "stands for"), placeholders),
        f"In `each` of `[start.settings]`: {settings}. A list inside a command stands together and "
        'is left out when a placeholder in it is empty, as in `["--rack", "{rack}"]`. '
        "`{{word}}` is `{word}` itself.",
    )


def target_key(section: str, key: str) -> tuple[str, str]:
    """What a key says and what holds without it, from the README of the target files."""
    about, absent = described_keys().get((section, key), ("", ""))
    if not about and section == "control":
        return f"command that does this to a broker: {key}", "the broker cannot be harmed so"
    if not about and section == "start.before":
        return BEFORE[key]
    if not about and not section:
        return TABLES[key]
    return about, absent


TABLES = {
    "build": ("table: what is made once", "nothing is made"),
    "start": ("table: how the broker is started", "`address` says where it runs"),
    "ready": ("table: when a started cluster is ready", "when it answers"),
}
BEFORE = {
    "name": ("name of the process, also of its port: `{port.NAME}`", "needed"),
    "command": ("how it is started", "needed"),
    "environment": ("variables", "none"),
    "output": ("a regular expression: it is ready when a line of its output matches",
               "it is ready when it listens at `{port.NAME}`"),
}  # fmt: skip


def described_keys() -> dict[tuple[str, str], tuple[str, str]]:
    """(table, key) -> (what it says, when absent), from harness/targets/files/README.md."""
    readme = target_file.__file__.replace("target_file.py", "files/README.md")
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    found: dict[tuple[str, str], tuple[str, str]] = {}
    section = ""
    for line in text.partition("## Keys")[2].partition("## Placeholders")[0].splitlines():
        if named := re.match(r"`\[([a-z.]+)\]`", line):
            section = named[1]
        if row := re.match(r"\| `(\w+)` \| (.*) \| (.*) \|$", line):
            found[section, row[1]] = row[2], row[3]
    return found


# Profiles


def profiles_page() -> str:
    parts = [
        "# Profiles",
        "A profile is a named cluster: settings, number of brokers, racks. "
        "[How to ask for one](../howto/profile.md) shows its use; `touchstone profile NAME` prints "
        "it for a properties file, a command line or a container.",
    ]
    for one in profiles.PROFILES.values():
        parts += [f"## {one.name}", one.sentence]
        if one.racks:
            parts.append("Racks: " + ", ".join(code(rack) for rack in one.racks) + ".")
        if one.apart:
            parts.append(
                "Only claims that want these settings are judged on it: others would meet them."
            )
        listed = [(code(name), value_words(value), "yes" if name in pace.PACE else "")
                  for name, value in sorted(one.settings.items())]  # fmt: skip
        if listed:
            parts.append(table(("setting", "value", "only sets a pace"), listed))
    return page(*parts)


def value_words(value: profiles.Value) -> str:
    if isinstance(value, str):
        return code(value)
    return ", ".join(f"{code(one)} on {releases}" for releases, one in value)


# Results


def results_page() -> str:
    header = rows.header(
        run="", started="", target="", release=None, kind="", oracle="", oracle_kind="", commit="",
        seed=0, host={}, planned=0, part={"index": 1, "of": 2, "total": 3},
    )  # fmt: skip
    footer = rows.footer([], finished="", exit_code=0)
    return page(
        "# Result format",
        "A run with `--results DIR` writes `DIR/RUN/TARGET.jsonl`: JSON Lines, a header, a row for "
        "each case, a footer. A file without a footer is incomplete and no reader takes it for a "
        f"result. This is schema {rows.SCHEMA}. A new field is no new schema; a field that changes "
        "its name or its meaning is one.",
        "Beside it stand `TARGET.junit.xml`, `summary.md`, `index.html`, `causes.json`, a manifest "
        "of the cases that were planned, and `bundles/` with one file for each difference.",
        "## Header",
        table(("field", "meaning"), ((code(name), HEADER.get(name, "")) for name in header)),
        "## Row of a case",
        table(("field", "kind", "meaning"), ((code(name), KINDS.get(kind, kind), ROW.get(name, ""))
                                             for name, kind in rows.CASE.items())),
        *(part for name, (about, fields) in LISTS.items()
          for part in (f"### {name}", about,
                       table(("field", "meaning"), ((code(k), v) for k, v in fields.items())))),
        "## Footer",
        table(("field", "meaning"), ((code(name), FOOTER.get(name, "")) for name in footer)),
        "## causes.json",
        "What the differences of a run come to, for programs; `touchstone causes RESULTS --json` "
        "prints the same of any result files. A new field is no new schema here either.",
        table(("field", "meaning"), ((code(k), v) for k, v in causes_json.FILE.items())),
        "### A target",
        table(("field", "meaning"), ((code(k), v) for k, v in causes_json.TARGET.items())),
        "### A cause",
        table(("field", "meaning"), ((code(k), v) for k, v in causes_json.CAUSE.items())),
        f"Effects, from the gravest: {', '.join(map(code, effects.EFFECTS))}. Those hit: "
        f"{', '.join(map(code, readers.WHO))}.",
        "### Who asks",
        "Whom a difference hits follows from who sends the request and who reads the field: in "
        "Kafka 4.3.1, where no other release stands beside the class. Packages are shortened.",
        table(("API", "asked by", "class"), ((code(name), who, code(source)) for name, (who, source)
                                             in readers.SENDERS.items())),
        "Fields that those do not read, and where an answer makes its reader raise:",
        table(("API", "field", "read by"), ((code(api), code(path), who)
                                            for (api, path), who in readers.FIELDS.items())),
        table(("API", "field", "raises at", "why"), (
            (code(api), code(path), at, why) for (api, path), (at, why) in readers.RAISES.items()
        )),
        "## Verdicts",
        "From best to worst: " + ", ".join(code(kind) for kind in rows.VERDICTS) + ".",
    )  # fmt: skip


def exits_table() -> str:
    listed = [(code(str(number)), text) for number, text in exits.EXITS.items()]
    return table(("exit code", "the run"), listed)


def exit_codes_page() -> str:
    return page(
        "# Exit codes",
        "## pytest with our suites",
        exits_table(),
        "The worst that is true decides: 2, then 1, then 3.",
        "## Commands",
        table(("command", "exit codes"), ((f"[`{name}`](commands/{name}.md)", told_exits(name))
                                          for name in COMMANDS)),
        "Of every command, 2 is a defect of Touchstone, with its traceback; 3 says also that an "
        "extra or a tool is not there, that a disk is full or may not be written, that a file of "
        "results cannot be read, or that somebody pressed Ctrl-C; and 4 that an option, an "
        "argument or a file that tells a command what to do is wrong, in one line, before work "
        "begins.",
        "## Errors",
        "Each error that a user can mend has one code, whatever command it comes from. An error "
        "that is none of these is 2.",
        table(("error", "exit code"), ((code(name.rpartition(".")[2]), code(str(number)))
                                       for name, number in exits.ERRORS.items())),
    )  # fmt: skip


def told_exits(name: str) -> str:
    """What the command's own help, or its module, says of exit codes."""
    found = command(name)
    for text in (found.help or "", import_module(found.callback.__module__).__doc__ or ""):
        if told := EXIT.search(" ".join(inspect.cleandoc(text).split())):
            return plain(told[1])
    return ""


# Environment


def environment_page() -> str:
    listed = [
        (code(variable(name, one)), f"[`{name}`](commands/{name}.md) {code(one.opts[0])}")
        for name in COMMANDS
        for one in options(command(name))
    ]
    parts = [
        "# Environment",
        table(("variable", "default", "what it does"),
              ((code(name), default, about) for name, (default, about) in ENVIRONMENT.items())),
    ]  # fmt: skip
    if listed:
        parts += ["## Options", "Every option of a command has a variable. What the command line "
                  "says wins. For an option that may be repeated, words are separated by spaces.",
                  table(("variable", "option"), listed)]  # fmt: skip
    return page(*parts)


# Python


def python_page() -> str:
    parts = ["# Python", prose(touchstone.__doc__ or "")]
    for name in sorted(touchstone.__all__, key=rank):
        parts += list(symbol(name, getattr(touchstone, name)))
    return page(*parts)


def rank(name: str) -> tuple[int, str]:
    """Functions first, then classes, then exceptions."""
    thing = getattr(touchstone, name)
    return (2 if issubclass(thing, Exception) else 1) if isinstance(thing, type) else 0, name


def symbol(name: str, thing: Any) -> Iterator[str]:
    """Heading, signature, docstring; of a class also its fields and public methods."""
    yield f"## {name}"
    if isinstance(thing, type) and issubclass(thing, Exception):
        yield prose(inspect.getdoc(thing) or "")
        return
    yield fenced(signature(name, thing), "python")
    yield prose(inspect.getdoc(thing) or "")
    if not isinstance(thing, type):
        return
    if dataclasses.is_dataclass(thing):
        yield table(("field", "type", "default"), map(field_row, dataclasses.fields(thing)))
    for member, value in vars(thing).items():
        if not member.startswith("_"):
            yield from method(name, member, value)


def method(owner: str, name: str, value: Any) -> Iterator[str]:
    function = getattr(value, "fget", None) or getattr(value, "__func__", value)
    if not isinstance(function, types.FunctionType):
        return
    yield f"### {owner}.{name}"
    yield fenced(name if isinstance(value, property) else signature(name, function), "python")
    yield prose(inspect.getdoc(function) or "")


def signature(name: str, thing: Any) -> str:
    """One line, or one parameter a line where that is too long."""
    made = inspect.signature(thing)
    kept = [one for one in made.parameters.values() if one.name not in ("self", "cls")]
    made = made.replace(parameters=kept)
    text = unquoted(f"{name}{made}").removesuffix(" -> None")
    if len(text) <= 88:
        return text
    lines = "".join(f"    {unquoted(str(one))},\n" for one in kept)
    back = made.return_annotation
    return f"{name}(\n{lines})" + ("" if back in (made.empty, "None") else f" -> {back}")


def unquoted(text: str) -> str:
    """Annotations are texts where a module imports `annotations`; they are shown without quotes."""
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)


def field_row(one: dataclasses.Field[Any]) -> tuple[str, str, str]:
    default = "needed" if one.default is dataclasses.MISSING else code(repr(one.default))
    return code(one.name), code(str(one.type)), default


def prose(text: str) -> str:
    """A docstring as Markdown: its indented blocks are code, the rest is text."""
    blocks: list[tuple[bool, list[str]]] = []
    for line in inspect.cleandoc(text).split("\n") if text.strip() else ():
        indented = line.startswith("    ") or (not line and bool(blocks) and blocks[-1][0])
        if not blocks or blocks[-1][0] != indented:
            blocks.append((indented, []))
        blocks[-1][1].append(line)
    return "\n\n".join(
        fenced(inspect.cleandoc("\n".join(mine)), "python" if "import " in mine[0] else "text")
        if indented
        else "\n".join(mine).replace("<", "&lt;").strip()
        for indented, mine in blocks
    )


# Defects


def defects_page() -> str:
    heads = ("name", "what the broker then does", "claim that catches it")
    listed = [
        (code(one.name), one.sentence, claim_link(one.caught_by)) for one in SWITCHES.values()
    ]
    return page(
        "# Planted defects",
        "`touchstone broker --switch NAME` serves with one defect, `serve(switches=[NAME])` does "
        "the same in Python. Use them to see whether your own tests would notice.",
        table(heads, listed),
    )


def claim_link(claim: str) -> str:
    return f'<a href="../claims/{claim}.html"><code>{claim}</code></a>'
