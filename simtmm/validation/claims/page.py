"""docs/claims.md, made of claims.toml and outcomes.csv: `python -m simtmm.validation.claims.page` writes it anew."""

from pathlib import Path

from simtmm.files import write_text, written_whole
from simtmm.validation.claims import PARTS, WAYS, Claim, known_claims

PAGE = Path("docs/claims.md")
_HEAD = """# What the papers claim

This page lists each claim of the five documents, whether it *holds*, *fails* or is *undecided* by what this project
computes, and the command whose numbers decide it. `simtmm paper claims` prints the same list, and
`simtmm paper claims NAME` one claim with all that is known of it. Names are those of tests/golden/published.toml, whose
tests decide the same; [DEVIATIONS.md](../DEVIATIONS.md) has the reasons. `python -m simtmm.validation.claims.page`
writes the page from simtmm/validation/claims/claims.toml, and a test compares it.

Where a claim was measured on a card, a simulation decides it only as far as the simulation is near the card elsewhere
([accuracy.md](accuracy.md)). Where nothing shows that it is, the claim stays undecided, whatever the result. The texts
give no points of figures, so none is compared. A number behind *fitted* was used to build the machine or the model, and
decides nothing.

How a verdict is known:

"""
_BANDS = """
A *band* runs a program at every combination of what the paper leaves open: sizes, threads per block, hash functions,
latency, warm or cold caches. The claim *holds* or *fails* if it does at all points, and otherwise *depends on* those
axes along which the verdict changes while all others stay. `simtmm paper claims NAME --points` lists the points,
`--picture FILE.svg` draws them, and `simtmm paper reproduce BAND` simulates them again.
"""


def page() -> str:
    """The page, in Markdown."""
    ways = "\n".join(["| known by | |", "| --- | --- |", *(f"| {name} | {words} |" for name, words in WAYS.items())])
    parts = [_HEAD + ways + "\n" + _BANDS]
    for part, title in PARTS.items():
        rows = [_row(claim) for claim in known_claims().values() if claim.part == part]
        table = ["| claim | verdict | known by | what comes out | command |", "| --- | --- | --- | --- | --- |", *rows]
        parts.append(f"## {title}\n\n" + "\n".join(table) + "\n")
    return "\n".join(parts)


def _row(claim: Claim) -> str:
    names = ", ".join(f"`{name}`" for name in claim.of)
    said = f"{names}: {claim.claim}" if names and claim.claim else names or claim.claim
    band = claim.band
    found = [claim.found] if claim.found else []
    if band is not None:
        found.append(f"{band.outcome}: {band.points.words.partition(': ')[2]}, by {band.criterion} ({band.name})")
    command = f"`{claim.command}`{' ' + claim.beside if claim.beside else ''}"
    return f"| {said} | {claim.verdict} | {claim.known} | {'; '.join(found)} | {command} |"


def main() -> None:
    """Write docs/claims.md of the working directory."""
    with written_whole(PAGE) as temporary:
        write_text(temporary, page())


if __name__ == "__main__":
    main()
