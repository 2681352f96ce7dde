"""What the papers claim, with the verdicts, as a person reads it."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from simtmm.report.text import table
from simtmm.validation.claims import PARTS, VERDICTS, WAYS, Claim
from simtmm.validation.claims.bands import Band


def describe_claims(claims: Mapping[str, Claim]) -> Iterator[RenderableType]:
    """All claims, a line each, and how many there are of each verdict."""
    for part, title in PARTS.items():
        rows = [
            (name, _short(claim.text), _short(claim.verdict), claim.known)
            for name, claim in claims.items()
            if claim.part == part
        ]
        yield table(title, ("name", "claim", "verdict", "known by"), rows, left=(0, 1, 2, 3))
        yield ""
    yield Text(", ".join(f"{count} {verdict}" for verdict, count in verdicts(claims).items()))
    yield Text("`simtmm paper claims NAME` shows one claim, with what came out and the command that gives it.")


def verdicts(claims: Mapping[str, Claim]) -> dict[str, int]:
    """How many claims have a verdict that begins with each of VERDICTS."""
    return {verdict: sum(each.verdict.startswith(verdict) for each in claims.values()) for verdict in VERDICTS}


def claims_document(claims: Mapping[str, Claim]) -> dict[str, Any]:
    """The same for JSON, with all of each claim but the points of its band."""
    documents = []
    for claim in claims.values():
        document = claim.to_dict()
        if document["band"]:
            document["band"] = {key: value for key, value in document["band"].items() if key != "points"}
        documents.append(document)
    return {"verdicts": verdicts(claims), "ways": WAYS, "claims": documents}


def describe_claim(claim: Claim, with_points: bool = False) -> Iterator[RenderableType]:
    """One claim: what is said, the verdict, how it is known, what came out. with_points: at each setting, too."""
    yield Text(f"{claim.name}: {claim.text}", style="bold")
    yield Text(f"document: {PARTS[claim.part]}")
    if claim.of:
        yield Text(f"published as: {', '.join(claim.of)}")
    yield Text(f"verdict: {claim.verdict}")
    yield Text(f"known by: {claim.known}: {WAYS[claim.known]}")
    if claim.found:
        yield Text(f"what comes out: {claim.found}")
    yield Text(f"command: {claim.command}{' ' + claim.beside if claim.beside else ''}")
    if claim.no_band:
        yield Text(f"no band: {claim.no_band}")
    if claim.band is not None:
        yield ""
        yield from _describe_band(claim.band, with_points)


def _describe_band(band: Band, with_points: bool) -> Iterator[RenderableType]:
    found = band.points
    yield Text(f"Band {band.name}, on {band.machine}: {found.words}", style="bold")
    yield Text(f"outcome: {band.outcome}")
    yield Text(f"holds where: {band.criterion}")
    if band.shrunk:
        yield Text(f"smaller than in the paper: {band.shrunk}")
    rows = []
    for place, (axis, values) in enumerate(band.axes.items()):
        held = [
            f"{value}: {sum(each.holds for each in found.points if each.values[place] == value)} of "
            f"{sum(each.values[place] == value for each in found.points)}"
            for value in values
        ]
        rows.append((axis, "; ".join(held), "yes" if axis in found.deciding else "no"))
    yield ""
    yield table("", ("axis", "holds at, by value", "decides"), rows, left=(0, 1, 2))
    if with_points:
        yield ""
        shown = [
            (*map(str, point.values), f"{point.outcome:.3g}", "holds" if point.holds else "fails")
            for point in found.points
        ]
        yield table("", (*found.axes, "outcome", ""), shown, left=tuple(range(len(found.axes))))
    yield ""
    yield Text(f"`simtmm paper reproduce {band.name}` simulates it again.")


def _short(text: str, most: int = 70) -> str:
    return text if len(text) <= most else f"{text[: most - 3].rstrip(' ,;:')}..."
