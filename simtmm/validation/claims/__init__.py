"""What the five documents claim, the verdict on each claim, and how the verdict is known.

claims.toml has the claims, bands.toml what the papers leave open of some, outcomes.csv what came out there.
docs/claims.md and `simtmm paper claims` are made of them.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from simtmm.errors import StudyError, nearest
from simtmm.validation.claims.bands import Band, band_of_claim

PARTS = {
    "rehman": "Rehman's thesis (001)",
    "tmm": "Ma's dissertation (000), chapters 3 and 4, and the first paper (004)",
    "ma": "Ma's dissertation (000), chapters 5 and 6, and ASAP 2012 (002)",
    "fgcs": "FGCS 2017 (003)",
}
SIMULATION, BAND = "simulation", "band"
WAYS = {
    "closed form": "an equation or a model was evaluated",
    "printed": "it follows from numbers that the document prints",
    "input": "it is a value that machines here take from the document",
    "count": "a recorded program's accesses or a kernel's own functions were counted",
    SIMULATION: "a program was simulated at one setting of what the document leaves open",
    BAND: "a program was simulated over what the document leaves open",
}
VERDICTS = ("holds", "fails", "undecided", "depends")


@dataclass(frozen=True)
class Claim:
    """A claim of a document.

    name: unique. part: a key of PARTS. of: names in tests/golden/published.toml. claim: what is said; "" where the
    names say it. decided: the verdict on all that no band decides, "" if a band decides all. known: a key of WAYS.
    found: what came out. command: the command that gives it. beside: words behind the command. no_band: why a verdict
    by simulation has no band.
    """

    name: str
    part: str
    decided: str
    known: str
    found: str
    command: str
    of: tuple[str, ...] = ()
    claim: str = ""
    beside: str = ""
    no_band: str = ""

    @property
    def band(self) -> Band | None:
        """The claim over what its document leaves open."""
        return band_of_claim(self.name)

    @property
    def verdict(self) -> str:
        """Begins with one of VERDICTS. Of a claim with a band: what the band gives, too."""
        band = self.band
        if band is None:
            return self.decided
        return f"{self.decided}; simulated: {band.points.verdict}" if self.decided else band.points.verdict

    @property
    def text(self) -> str:
        """What is said, in a line."""
        return self.claim or ", ".join(self.of)

    def to_dict(self) -> dict[str, Any]:
        """All of it, as one JSON document."""
        band = self.band
        return {
            "name": self.name,
            "document": PARTS[self.part],
            "claim": self.text,
            "published": list(self.of),
            "verdict": self.verdict,
            "known_by": self.known,
            "found": self.found,
            "command": self.command,
            "no_band": self.no_band,
            "band": None if band is None else band.to_dict(),
        }


@cache
def known_claims() -> dict[str, Claim]:
    """All claims by name, in the order of docs/claims.md."""
    tables = tomllib.loads((resources.files(__name__) / "claims.toml").read_text(encoding="utf-8"))
    return {
        name: Claim(
            name,
            decided=table.pop("verdict", ""),
            of=tuple(table.pop("of", ())),
            known=BAND if band_of_claim(name) else table.pop("known"),
            **{key: value for key, value in table.items() if key != "known"},
        )
        for name, table in tables.items()
    }


def find_claim(name: str) -> Claim:
    """The claim of that name.

    name: of the claim.

    Raises StudyError for an unknown one.
    """
    claims = known_claims()
    if name not in claims:
        raise StudyError(f"claim {name!r}: unknown{nearest(name, claims)}")
    return claims[name]
