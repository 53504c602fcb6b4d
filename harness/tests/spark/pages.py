"""A page in headless Chromium, and what stands in its tables. A machine without it is not run."""

from __future__ import annotations

import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

HANGS_S = 1_800  # what takes longer has stopped, on any machine
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-sync", "--disable-background-networking", "--disable-component-update",
    "--dump-dom", "--enable-logging=stderr", "--virtual-time-budget=20000",
)  # fmt: skip


def drawn(page: Path, profile: Path, place: str = "", query: str = "") -> str:
    """The page, opened from disk, as the browser drew it at `#place`, without its script and data.

    Whatever it says on its console is a failure.
    """
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("not run: no Chromium")
    address = f"{page.resolve().as_uri()}?{query}#{place}"
    done = subprocess.run(
        [chromium, *FLAGS, f"--user-data-dir={profile}", address],
        capture_output=True, text=True, check=False, timeout=HANGS_S,
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr, done.stderr
    return done.stdout.split("<noscript>")[0]


class Tables(HTMLParser):
    """Every row of every table as the texts of its cells; links and commands apart."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.links: list[str] = []
        self.commands: list[str] = []
        self._cell = self._pre = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True
        elif tag == "pre":
            self.commands.append("")
            self._pre = True
        elif tag == "a":
            self.links.append(dict(attrs).get("href", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False
        elif tag == "pre":
            self._pre = False

    def handle_data(self, data: str) -> None:
        if self._cell:
            self.rows[-1][-1] += data
        if self._pre:
            self.commands[-1] += data
