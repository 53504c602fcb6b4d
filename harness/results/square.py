"""The square as a table for a terminal and as a page. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from touchstone.harness.results.page import document
from touchstone.harness.run.square import AGREE, AREAS, NOBODY, Scene

MARKS = {"CONFORMS": "ok", "DIVERGES": "DIFFERS", "UNSUPPORTED": "lacks", "INCONCLUSIVE": "?"}


def corners(scenes: Sequence[Scene]) -> list[tuple[str, str]]:
    """The corners, as they were judged."""
    return list(dict.fromkeys(corner for scene in scenes for corner in scene.cells))


def lines(scenes: Sequence[Scene]) -> Iterator[str]:
    """For a terminal: by area how many scenarios conform in each corner, then who is suspected."""
    found = corners(scenes)
    yield f"{'area':<14}" + "".join(f"{f'{client} on {broker}':>30}" for client, broker in found)
    for area in AREAS:
        mine = [scene for scene in scenes if scene.area == area]
        cells = "".join(f"{_counted(mine, corner):>30}" for corner in found)
        yield f"{area:<14}{cells}"
    for scene in scenes:
        if scene.suspect != AGREE:
            yield f"suspect {scene.suspect}: {scene.case}"
            yield from (
                f"    {client} on {broker}: {cell.verdict}: {cell.reason[:160]}"
                for (client, broker), cell in scene.cells.items()
                if not cell.conforms
            )
    blamed = Counter(scene.suspect for scene in scenes if scene.suspect not in (AGREE, NOBODY))
    yield "; ".join(f"{name}: {n}" for name, n in blamed.items()) or "nobody is suspected"


def _counted(scenes: Sequence[Scene], corner: tuple[str, str]) -> str:
    cells = [scene.cells[corner] for scene in scenes if corner in scene.cells]
    return f"{sum(cell.conforms for cell in cells)} of {len(cells)}"


def html(squares: Sequence[Sequence[Scene]]) -> str:
    """The page: a table for each square, a row for each scenario."""
    body = ["<h1>The square: the same scenario, two clients, two brokers</h1>"]
    for scenes in squares:
        found = corners(scenes)
        heads = "".join(f"<th>{escape(client)}<br>on {escape(on)}</th>" for client, on in found)
        body.append(f"<h2>{escape(' and '.join(dict.fromkeys(on for _, on in found)))}</h2>")
        body.append(f"<table><tr><th>area</th><th>scenario</th>{heads}<th>suspect</th></tr>")
        body += [_row(scene, found) for scene in scenes]
        body.append("</table>")
    return document("Touchstone: the square", body)


def _row(scene: Scene, found: Sequence[tuple[str, str]]) -> str:
    cells = ""
    for corner in found:
        cell = scene.cells.get(corner)
        word = "" if cell is None else MARKS.get(cell.verdict, cell.verdict)
        title = "" if cell is None else escape(cell.reason)
        cells += f'<td title="{title}">{word}</td>'
    sentence = escape(scene.sentence)
    return (
        f'<tr><td>{scene.area}</td><td title="{sentence}">{escape(scene.case)}</td>{cells}'
        f"<td>{escape(scene.suspect)}</td></tr>"
    )
