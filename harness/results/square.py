"""The square as a table for a terminal and as a page. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from touchstone.harness.results.page import document
from touchstone.harness.run.square import AGREE, AREAS, NOBODY, ScenarioRow
from touchstone.harness.shown import html as escape

MARKS = {"CONFORMS": "ok", "DIVERGES": "DIFFERS", "UNSUPPORTED": "lacks", "INCONCLUSIVE": "?"}


def corners(rows: Sequence[ScenarioRow]) -> list[tuple[str, str]]:
    """The corners, as they were judged."""
    return list(dict.fromkeys(corner for row in rows for corner in row.cells))


def lines(rows: Sequence[ScenarioRow]) -> Iterator[str]:
    """For a terminal: by area how many scenarios conform in each corner, then who is suspected."""
    found = corners(rows)
    yield f"{'area':<14}" + "".join(f"{f'{client} on {broker}':>30}" for client, broker in found)
    for area in AREAS:
        mine = [row for row in rows if row.area == area]
        cells = "".join(f"{_counted(mine, corner):>30}" for corner in found)
        yield f"{area:<14}{cells}"
    for row in rows:
        if row.suspect != AGREE:
            yield f"suspect {row.suspect}: {row.case}"
            yield from (
                f"    {client} on {broker}: {cell.verdict}: {cell.reason[:160]}"
                for (client, broker), cell in row.cells.items()
                if not cell.conforms
            )
    blamed = Counter(row.suspect for row in rows if row.suspect not in (AGREE, NOBODY))
    yield "; ".join(f"{name}: {n}" for name, n in blamed.items()) or "nobody is suspected"


def _counted(rows: Sequence[ScenarioRow], corner: tuple[str, str]) -> str:
    cells = [row.cells[corner] for row in rows if corner in row.cells]
    return f"{sum(cell.conforms for cell in cells)} of {len(cells)}"


def html(squares: Sequence[Sequence[ScenarioRow]]) -> str:
    """The page: a table for each square, a row for each scenario."""
    body = ["<h1>The square: the same scenario, two clients, two brokers</h1>"]
    for rows in squares:
        found = corners(rows)
        heads = "".join(f"<th>{escape(client)}<br>on {escape(on)}</th>" for client, on in found)
        body.append(f"<h2>{escape(' and '.join(dict.fromkeys(on for _, on in found)))}</h2>")
        body.append(f"<table><tr><th>area</th><th>scenario</th>{heads}<th>suspect</th></tr>")
        body += [_row(row, found) for row in rows]
        body.append("</table>")
    return document("Touchstone: the square", body)


def _row(row: ScenarioRow, found: Sequence[tuple[str, str]]) -> str:
    cells = ""
    for corner in found:
        cell = row.cells.get(corner)
        word = "" if cell is None else MARKS.get(cell.verdict, cell.verdict)
        title = "" if cell is None else escape(cell.reason)
        cells += f'<td title="{title}">{word}</td>'
    sentence = escape(row.sentence)
    return (
        f'<tr><td>{row.area}</td><td title="{sentence}">{escape(row.case)}</td>{cells}'
        f"<td>{escape(row.suspect)}</td></tr>"
    )
