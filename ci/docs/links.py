"""Reads a built site: every link leads somewhere, and no page asks another host for anything.

MkDocs checks the links between Markdown pages; this checks what readers get, with the pages that
are written without Markdown and the anchors. A link that a reader may follow to another host is
allowed; a script, style, font or picture from one is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

LOADING = {
    # tag: the attribute whose address a browser fetches by itself
    "script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href",
    "use": "href", "object": "data", "video": "src", "audio": "src",
}  # fmt: skip
FETCHED = ("stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "manifest")
IN_STYLE = re.compile(r"(?:url\(\s*|@import\s+)['\"]?((?:https?:)?//[^'\")\s]+)")
# Tags without attributes, of which there are most, link and load nothing.
BARE = re.compile(r"</?(?!script|style)[a-z][a-z0-9-]*\s*>", re.IGNORECASE)
OUTSIDE = re.compile(r"(?:[a-z]+:)?//|mailto:|data:|javascript:", re.IGNORECASE)


@dataclass
class Page(HTMLParser):
    """The links, loads and anchors of one page."""

    path: Path
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if LOADING.get(tag) in given and (tag != "link" or self._fetched(given)):
            self.loads.append(given[LOADING[tag]])
        self.loads += IN_STYLE.findall(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self.lasttag == "style":
            self.loads += IN_STYLE.findall(data)

    @staticmethod
    def _fetched(given: dict[str, str]) -> bool:
        return any(word in FETCHED for word in given.get("rel", "").split())


def read(path: Path) -> Page:
    made = Page(path)
    made.feed(BARE.sub("", path.read_text(encoding="utf-8")))
    return made


def problems(site: Path) -> Iterator[str]:
    """Each broken link and each load from another host, in words."""
    pages = {path.resolve(): read(path) for path in sorted(site.rglob("*.html"))}
    places = cache(partial(place_of, site))  # every page of a folder has the same menu
    for path, found in pages.items():
        shown = path.relative_to(site.resolve())
        for load in found.loads:
            if OUTSIDE.match(load) and not load.startswith("data:"):
                yield f"{shown}: loads {load}"
        for address in (*found.links, *found.loads):
            if not OUTSIDE.match(address):
                place, anchor = urldefrag(address)
                target = places(path.parent, place, path.name == "404.html") if place else path
                if target is None:
                    yield f"{shown}: {address} leads nowhere"
                elif anchor and target in pages and unquote(anchor) not in pages[target].anchors:
                    yield f"{shown}: {address}: no such anchor"
    for style in site.rglob("*.css"):
        for load in IN_STYLE.findall(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site)}: loads {load}"


def place_of(site: Path, folder: Path, place: str, anywhere: bool) -> Path | None:
    """The file that a link leads to; None where there is none. A page that is shown `anywhere` has
    links from the root of the site.
    """
    if anywhere and place.startswith("/"):
        folder, place = site, place.lstrip("/") or "."
    target = (folder / unquote(place)).resolve()
    if target.is_dir():
        target = target / "index.html"
    return target if target.exists() else None
