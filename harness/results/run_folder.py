"""The folder of a run: its rows read back, and what is written beside them for people.

    DIR/RUN/TARGET.jsonl       rows, one file per target (`jsonl`)
    DIR/RUN/TARGET.junit.xml   for CI servers (`junit`)
    DIR/RUN/summary.md         causes first, for a CI job's summary (`summary`)
    DIR/RUN/index.html         the same, each cause with its cases (`page`)
    DIR/RUN/causes.json        causes for programs (`causes_json`)
    DIR/RUN/bundles/           failing cases as files
    DIR/RUN/badge.svg          the run in two words (`badge`), and badge.json for badge servers
    DIR/RUN/SHA256SUMS         checksums of all of them (`sums`), for `touchstone verify`

Summary and page are of all targets whose files stand in the folder and are whole, also when other
processes wrote them (`--run NAME`); whoever finishes last writes them last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from touchstone.harness.judgement import bundle, card
from touchstone.harness.judgement.bundle import BadBundle
from touchstone.harness.judgement.card import Card
from touchstone.harness.known import Surprise
from touchstone.harness.model import former_ids
from touchstone.harness.model.case_row import CaseRow
from touchstone.harness.results import badge, causes_json, jsonl, page, summary, sums
from touchstone.harness.results.jsonl import BadResults
from touchstone.harness.results.summary import Report

SUMMARY, PAGE, CAUSES = "summary.md", "index.html", "causes.json"
BADGE, ENDPOINT = "badge.svg", "badge.json"
Surprises = Mapping[str, Sequence[Surprise]]  # by target


def reports(
    folder: Path, surprises: Surprises | None = None, cut: frozenset[str] = frozenset()
) -> list[Report]:
    """What stands in a run's folder, by target. Of files that are not whole those of the targets
    in `cut` ended like that; the others are somebody's still.
    """
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        try:
            results = jsonl.read(path, incomplete=True)
        except BadResults:
            continue
        target, finished = results.header["target"], results.footer is not None
        if finished or target in cut:
            told = (surprises or {}).get(target, ())
            found.append(Report(results.header, results.cases, told, finished=finished))
    return found


def write(
    folder: Path, surprises: Surprises | None = None, cut: frozenset[str] = frozenset()
) -> None:
    """Summary, page, causes, badge and checksums of a run's folder; nothing where no file is whole.
    The run of the targets in `cut` was ended from outside: they are shown as far as it came.
    """
    found = reports(folder, surprises, cut)
    if not found:
        return
    (folder / SUMMARY).write_text(summary.markdown(found), encoding="utf-8")
    (folder / PAGE).write_text(page.render(found, example_in(folder)), encoding="utf-8")
    (folder / CAUSES).write_text(causes_json.dumps(found), encoding="utf-8")
    told = badge.of(found)
    (folder / BADGE).write_text(badge.svg(told), encoding="utf-8")
    (folder / ENDPOINT).write_text(badge.endpoint(told), encoding="utf-8")
    sums.write(folder)


def example_in(folder: Path) -> page.Example:
    """Cards from the bundles of this folder; None for a row without one that can be read."""

    def example(row: CaseRow) -> Card | None:
        place = row.get("transcript")
        if not place:
            return None
        if not (folder / place).resolve().is_relative_to(folder.resolve()):
            return None
        try:
            return card.of_bundle(bundle.read(folder / place), place)
        except (BadBundle, OSError):
            return None

    return example


def named(paths: Iterable[Path]) -> list[Report]:
    """Reports of these result files, with the ids that claims have today: runs of other days stand
    side by side. Raises BadResults for one that is not whole.
    """
    return [Report(one.header, tuple(map(_of_today, one.cases))) for one in map(jsonl.read, paths)]


def _of_today(row: CaseRow) -> CaseRow:
    claim, case = former_ids.current(row["claim"]), former_ids.current(row["case"])
    return {**row, "claim": claim, "case": case}
