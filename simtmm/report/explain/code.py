"""The PTX and the machine code (SASS) of a program, by the source lines that they come from."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.analysis.run.outcome import Run
from simtmm.errors import OutputError
from simtmm.stalls import THREADS, Stalls
from simtmm.trace.schedule import NO_SITE

NAMES = {"sass": "SASS", "ptx": "PTX"}
Line = tuple[str, int]


@dataclass(frozen=True)
class Coded:
    """An instruction that a line became.

    kernel: that it belongs to. text: as the assembler or compiler writes it.
    times: that threads of a warp did it together; None where it was not recorded by itself.
    ticks: int64[REASONS]: of warps, of the site that it stands for; None where another instruction does.
    """

    kernel: str
    text: str
    times: int | None
    ticks: npt.NDArray[np.int64] | None


def check_code(run: Run, code: str) -> None:
    """Raise OutputError for a program whose trace has no code of that kind."""
    if not any(listing.code == code for listing in (run.info.listings if run.info else ())):
        raise OutputError(
            f"--{code}: the trace of {run.program} has no {NAMES[code]}: record the kernel as "
            f"{'compiled to machine code' if code == 'sass' else 'compiled'} (--as compiled)"
        )


def coded(run: Run, code: str) -> dict[Line, list[Coded]]:
    """The instructions of each line, in their order. code: "sass" or "ptx"."""
    stalls = run.result.stalls
    if run.info is None or stalls is None:
        return {}
    times, ticks = _of_sites(stalls)
    found: dict[Line, list[Coded]] = {}
    for listing in run.info.listings:
        if listing.code != code:
            continue
        last = {site: index for index, site in enumerate(listing.sites)}  # what a site does stands at its end
        for index, (text, place, site) in enumerate(zip(listing.texts, listing.places, listing.sites, strict=True)):
            known = site != NO_SITE and site < len(ticks)
            found.setdefault(place, []).append(
                Coded(
                    listing.kernel,
                    text,
                    int(times[site]) if known and times is not None else None,
                    ticks[site] if known and last[site] == index else None,
                )
            )
    return found


def left_out(run: Run, code: str) -> Iterator[str]:
    """What there was no room for, in words."""
    for listing in run.info.listings if run.info else ():
        if listing.code == code and listing.left:
            yield f"{NAMES[code]} of {listing.kernel}: the last {listing.left:,} instructions are left out."


def _of_sites(stalls: Stalls) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.int64]]:
    """Of each site the times that threads of a warp did it (None if unknown), and int64[sites, REASONS]."""
    places = stalls.places
    arrays = len(places.arrays)
    ticks = stalls.ticks[: len(places)].reshape(-1, arrays, stalls.ticks.shape[1]).sum(axis=1)
    if places.threads is None:
        return None, ticks
    times = places.threads[: len(places), THREADS.index("executions")].reshape(-1, arrays).sum(axis=1)
    return times, ticks
