"""Program counters and opcodes of an imported trace's sites, and program counters for those that it does not list.

The importer numbers the program counters of each kernel in ascending order, with a site for joins and one for all else.
A trace lists the sites that events come from; in between are program counters within stretches of work. To be numbered
alike they must be in the files, so they are given places between their neighbours.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from simtmm.errors import TraceError, shown
from simtmm.trace.schema import TraceSite

FIRST_SITE = 1  # behind that of shared memory
_SOURCE = re.compile(r"/\*([0-9a-f]+)\*/ (\S+)")


@dataclass(frozen=True)
class SiteName:
    """An instruction. own: the site of its events; that of joins before it is one less. line: of the source, or 0."""

    own: int
    pc: int
    opcode: str
    line: int


@dataclass(frozen=True)
class KernelSites:
    """The instructions of a kernel: those with events by their site, and program counters that no event has."""

    named: dict[int, SiteName]
    unnamed: tuple[int, ...]


def named_sites(sites: Sequence[TraceSite]) -> dict[str, KernelSites]:
    """By kernel. Raises TraceError where the sites are not those of the importer."""
    by_kernel: dict[str, dict[int, SiteName]] = {}
    for site in sorted(sites, key=lambda site: site.site):
        if site.kind == "shared_array":
            continue
        source = _SOURCE.fullmatch(site.source)
        if not source:
            raise TraceError(f"site {site.site}: {shown(site.source)}: must be a program counter and an opcode")
        own = site.site + site.site % 2  # a join has the odd number before
        by_kernel.setdefault(site.file, {})[own] = SiteName(own, int(source[1], 16), source[2], site.line)
    kernels, first = {}, FIRST_SITE
    for number, (kernel, named) in enumerate(by_kernel.items()):
        owns = list(named)
        behind = next((min(later) - 1 for later in list(by_kernel.values())[number + 1 :]), owns[-1] + 1)
        kernels[kernel], first = KernelSites(named, _between(kernel, named, first, behind)), behind
    return kernels


def _between(kernel: str, named: dict[int, SiteName], first: int, behind: int) -> tuple[int, ...]:
    """Program counters for the places of a kernel that are not named. first, behind: the bounds of its sites."""
    unnamed: list[int] = []
    before, at = -1, first + 1
    for own, name in [*named.items(), (behind + 1, None)]:
        missing = (own - at) // 2
        room = name.pc - before - 1 if name else missing
        if missing > room:
            raise TraceError(f"kernel {shown(kernel)}: {missing} program counters before site {own}: no room is left")
        step = (room + 1) // (missing + 1) if name else 16
        unnamed += [before + step * (number + 1) for number in range(missing)]
        before, at = name.pc if name else before, own + 2
    return tuple(unnamed)
