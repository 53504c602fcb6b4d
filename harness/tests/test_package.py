"""One import package: its public names, its commands' options, and what its pytest plugin leaves
alone. What is installed is tried by `test_installed.py`."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap

import click
import pytest
from click.testing import CliRunner

import touchstone
from touchstone.harness import extras
from touchstone.harness.__main__ import main
from touchstone.harness.cli import smoke
from touchstone.plugin import OPTIONS, asks_for_suites

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow  # a Python of its own each

# What Windows does not have, taken away before the first import.
POORER = """
    import os, select, socket, sys
    sys.modules["fcntl"] = sys.modules["resource"] = None
    del select.poll, select.epoll
    socket.socket.sendmsg = property()  # raises AttributeError
"""
PROJECT = """
    def pytest_addoption(parser):
        parser.addoption("--target", default="mine")
        parser.addoption("--seed", action="store_true")
"""


def python(program, *arguments):
    """Exit code and output of a program in a Python of its own."""
    argv = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    return subprocess.run(argv, check=False, capture_output=True, text=True)


def test_a_test_file_is_one_module():
    assert __name__.startswith("touchstone.")
    assert sys.modules[__name__] is sys.modules[__name__.removeprefix("touchstone.")]


def test_every_public_name_is_there():
    assert sorted(touchstone.__all__) == touchstone.__all__
    for name in touchstone.__all__:
        assert getattr(touchstone, name).__name__
        assert name in dir(touchstone)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        touchstone.nothing  # noqa: B018


def test_the_package_alone_imports_nothing_of_ours():
    done = python("""
        import sys, touchstone
        print(sorted(name for name in sys.modules if name.split(".")[0] == "touchstone"))
    """)
    assert done.stdout == "['touchstone', 'touchstone.checkout']\n", done.stderr


def test_brokers_in_memory_need_nothing_that_windows_lacks():
    done = python(
        POORER
        + """
    from touchstone import Client, serve
    import touchstone.harness.cli.broker
    with serve(brokers=2) as cluster, socket.create_connection(
        ("127.0.0.1", int(cluster.bootstrap[0].rpartition(":")[2]))
    ) as line:
        line.sendall(bytes.fromhex("0000000c" "0012" "0000" "00000007" "0002" "6162"))
        size = int.from_bytes(line.recv(4, socket.MSG_WAITALL), "big")
        print(line.recv(size, socket.MSG_WAITALL)[:6].hex())
    """
    )
    assert done.stdout == "000000070000\n", done.stderr


def test_log_directories_are_refused_in_words_where_nothing_locks_them(tmp_path):
    done = python(POORER + """
    from touchstone import serve
    serve(data=sys.argv[1])
    """, str(tmp_path))  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "LogDirError: log directories (--data) need a system with fcntl, not Windows"
    )


def test_every_option_has_an_environment_variable():
    done = CliRunner().invoke(main, ["broker"], env={"TOUCHSTONE_BROKER_RELEASE": "9.9"})
    assert done.exit_code == 4 and "no persona for '9.9'" in done.output


def test_every_command_has_a_short_help():
    """In a Python of its own: click keeps the help option of a command's first context."""
    done = python("""
        from click.testing import CliRunner
        from touchstone.harness.__main__ import COMMANDS, main
        for name in COMMANDS:
            said = CliRunner().invoke(main, [name, "-h"])
            if said.exit_code or not said.output.startswith(f"Usage: main {name} "):
                print(name, said.exit_code, said.output)
    """)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_command_says_which_extra_it_lacks(monkeypatch):
    def lacks():
        raise ModuleNotFoundError("no pytest", name="pytest.mark")

    monkeypatch.setattr(smoke, "command", click.Command("smoke", callback=lacks))
    done = CliRunner().invoke(main, ["smoke"])
    assert done.exit_code == 3
    assert done.output == f"touchstone smoke: {extras.install_line('pytest')}\n"


def test_a_command_that_windows_cannot_run_says_so():
    done = python(POORER + """
    from touchstone.harness.__main__ import main
    main(["record", "--check"])
    """)  # fmt: skip
    assert done.returncode == 3
    assert done.stderr == "touchstone record: needs Linux or macOS: this Python has no fcntl\n"


def test_what_no_extra_brings_is_a_fault_of_ours():
    assert extras.lacking(ModuleNotFoundError("no", name="touchstone.nothing")) is None


# --- the plugin ----------------------------------------------------------------------------------


def test_a_project_keeps_its_own_options(pytester):
    pytester.makeconftest(PROJECT)
    pytester.makepyfile("""
        def test_mine(request):
            assert request.config.getoption("--target") == "yours"
            assert request.config.getoption("--seed") is True
    """)
    done = pytester.runpytest_subprocess("--target", "yours", "--seed")
    assert done.ret == 0


def test_short_names_are_for_runs_of_our_suites_only(pytester):
    assert pytester.runpytest_subprocess("--newest").ret == pytest.ExitCode.USAGE_ERROR
    done = pytester.runpytest_subprocess(
        "--pyargs", "touchstone.suites.topics", "--newest", "--target", "recorded@2.8",
        "-k", "zero", "-p", "no:cacheprovider",
    )  # fmt: skip
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*recorded@2.8 against recorded@2.8: no new difference*"])


def test_a_name_that_a_project_took_is_said(pytester):
    pytester.makeconftest(PROJECT)
    done = pytester.runpytest_subprocess(
        "--pyargs", "touchstone.suites.topics", "--newest", "--touchstone-target", "recorded@2.8",
        "-k", "zero", "-p", "no:cacheprovider",
    )  # fmt: skip
    assert done.ret == 0
    done.stdout.fnmatch_lines(
        [
            "touchstone: --target is an option of this project; ours is --touchstone-target",
            "touchstone: --seed is an option of this project; ours is --touchstone-seed",
            "*recorded@2.8 against recorded@2.8*",
        ]
    )


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--pyargs", "touchstone.suites"], True),
        (["touchstone.suites.topics.test_create::test_x[a]"], True),
        (["touchstone.suites_of_mine"], False),
        (["tests", "-k", "suites"], False),
        ([], False),
    ],
)
def test_what_asks_for_our_suites(words, asked, tmp_path):
    assert asks_for_suites(words, tmp_path) is asked


def test_a_path_asks_for_our_suites_too(tmp_path):
    assert touchstone.ROOT is not None
    assert asks_for_suites([f"{touchstone.ROOT}/suites/topics"], tmp_path)
    assert not asks_for_suites([f"{touchstone.ROOT}/harness/tests"], tmp_path)


@pytest.mark.parametrize("suites", [True, False], ids=["suites", "claims of somebody else"])
def test_parallel_workers_are_refused_in_words(pytester, suites):
    pytest.importorskip("xdist", reason="not run: no pytest-xdist (extra test)")
    pytester.makepyfile("""
        from touchstone.harness.model.claim import claim

        @claim("demo.any", evidence=("TOPIC-11",))
        def test_any(case):
            \"""Any.\"""
    """)
    words = ["--pyargs", "touchstone.suites.versions"] if suites else []
    done = pytester.runpytest_subprocess("-n", "2", *words)
    said = done.stdout.str() + done.stderr.str()
    assert "cannot be judged by pytest-xdist (-n): use --jobs N" in said
    assert done.ret != 0


def test_parallel_workers_have_a_cluster_each(pytester):
    pytest.importorskip("xdist", reason="not run: no pytest-xdist (extra test)")
    pytester.makepyfile("""
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_mine(kafka_cluster, kafka_topic, number, worker_id):
            print(f"({worker_id} has {kafka_cluster.bootstrap})")
    """)
    done = pytester.runpytest_subprocess("-n", "2", "-rP")
    done.assert_outcomes(passed=4)
    had = set(re.findall(r"\((gw\d) has (.*)\)", done.stdout.str()))
    workers = {worker for worker, _ in had}
    assert len(had) == len(workers) == len({address for _, address in had})


def test_options_have_one_place_whichever_name_is_used(pytester):
    assert OPTIONS["target"]["default"] == []
    done = pytester.runpytest_subprocess(
        "--pyargs", "touchstone.suites.topics", "--newest", "-k", "zero", "-p", "no:cacheprovider",
        "--target", "recorded@2.8", "--touchstone-target", "recorded@3.9",
    )  # fmt: skip
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*recorded@2.8 against*", "*recorded@3.9 against*"])
