"""What a target file needs of this machine, and what is made of it once and kept in the cache.

A missing tool is a sentence ("no Go"), as everywhere here: a run counts what it did not do. A build
is kept under a name that its commands, its files and this Python decide, so that a changed file is
built again and an unchanged one never is.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from touchstone.harness.extras import absent
from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets import image, templates
from touchstone.harness.targets.cache import cache_dir, kept
from touchstone.harness.targets.child import Child, Watchdog
from touchstone.harness.targets.description import Build, Description
from touchstone.harness.targets.java import find_java, find_maven

PYTHON_PACKAGE = "python:"  # a need that is a module of this Python, as python:confluent_kafka
HARNESS = __name__.removesuffix(".targets.tools")  # the package as it is installed here
_LINE = 300

# program: what people call it
CALLED = {
    "cargo": "cargo (Rust)",
    "docker": "Docker command",
    "go": "Go",
    "node": "Node.js",
    "npm": "npm (Node.js)",
    "pip": "pip (Python)",
}
# programs of which a file of that name proves nothing: each raises Unavailable
ASKED: dict[str, Callable[[], object]] = {
    "java": find_java,
    "mvn": find_maven,
    "docker": image.ask_engine,
}


def missing(needs: Iterable[str]) -> str | None:
    """The first tool that this machine lacks, in words; None when it has all."""
    for need in needs:
        if need.startswith(PYTHON_PACKAGE):
            module = need.removeprefix(PYTHON_PACKAGE)
            if importlib.util.find_spec(module.split(".")[0]) is None:
                return absent(module)
        elif need in ASKED:
            try:
                ASKED[need]()
            except Unavailable as lacking:
                return lacking.reason
        elif shutil.which(need) is None:
            return f"no {CALLED.get(need, need)}"
    return None


def constants(described: Description, cache: Path | None) -> dict[str, str]:
    """The placeholders that do not depend on a cluster."""
    return {
        "cache": str(cache or ""),
        "here": str(described.file.resolve().parent),
        "python": sys.executable,
        "harness": HARNESS,
        "release": described.release or "",
    }


def built(described: Description) -> Path | None:
    """The folder that [build] filled, now or earlier. Raises Unavailable."""
    if described.build is None:
        return None
    return kept(entry(described, described.build), lambda folder: _build(described, folder))


def entry(described: Description, build: Build) -> Path:
    """Where the build is kept."""
    digest = hashlib.sha256(repr((build.commands, sys.version_info[:2])).encode())
    for path in _files(build.files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return cache_dir() / f"target-{described.name}-{described.version}-{digest.hexdigest()[:8]}"


def _files(source: Path | None) -> list[Path]:
    if source is None:
        return []
    if source.is_file():
        return [source]
    return sorted(path for path in source.rglob("*") if path.is_file())


def _build(described: Description, folder: Path) -> None:
    build = described.build
    assert build is not None
    lacking = missing(build.needs)
    if lacking:
        raise Unavailable(lacking)
    print(f"touchstone: building {described.name} {described.version}, once", file=sys.stderr)
    if build.files is not None and build.files.is_dir():
        shutil.copytree(build.files, folder, dirs_exist_ok=True)
    elif build.files is not None:
        shutil.copy2(build.files, folder)
    values = constants(described, folder)
    with tempfile.TemporaryDirectory(prefix="touchstone-build-") as logs:
        for number, command in enumerate(build.commands):
            _run(described, number, command, values, folder, Path(logs) / f"{number}.log")


def _run(
    described: Description, number: int, command: templates.Command, values: Mapping[str, str],
    folder: Path, log: Path,
) -> None:  # fmt: skip
    """One command of the build, as a group of its own that a killed run does not leave behind."""
    build = described.build
    assert build is not None
    watchdog = Watchdog(None)
    child = Child(templates.argv(command, values, {}), log=log, cwd=folder, watchdog=watchdog)
    what = f"{described.file.name}: build.commands[{number}]"
    try:
        child.start()
        if not child.wait(build.seconds):
            raise Unavailable(f"{what} was not done in {build.seconds} s (build.seconds)")
        if child.exit_code:
            raise Unavailable(f"{what} ended with {child.exit_code}: {_cause(child.said())}")
    except OSError as error:
        raise Unavailable(f"{what}: {child.argv[0]}: {error.strerror}") from None
    finally:
        child.kill()
        watchdog.close()


def _cause(output: str) -> str:
    """The first line that speaks of an error, else the last two."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (" ".join(errors[:1] or lines[-2:]) or "it said nothing")[:_LINE]
