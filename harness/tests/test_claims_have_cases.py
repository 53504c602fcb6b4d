"""No claim is of releases and versions that exclude one another.

That the suites can be asked of any one release, also one that lacks some of the APIs, is what the
tier `recorded` does: it collects them for each persona alone, and is red where the ledger, which is
complete over the union of releases, takes the cells of a later API for unclassified.
"""

from touchstone.harness.model import advertised
from touchstone.harness.run import detection


def test_every_claim_has_a_case_somewhere() -> None:
    """Releases and versions that exclude one another would make a claim that nobody ever tries."""
    claims = [claim for claim, _ in detection.functions().values()]
    tables = advertised.tables()
    never = [
        claim.id
        for claim in claims
        if not any(claim.cases(release, table) for release, table in tables.items())
    ]
    assert claims and not never
