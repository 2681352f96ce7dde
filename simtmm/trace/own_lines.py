"""Lines of a program's own files for what compilers bring along: headers of theirs, and functions without lines."""

import re
from collections.abc import Mapping, Sequence

from simtmm.trace.schema import TraceSite

Line = tuple[str, int, str]
"""File, line and its text."""

_OF_COMPILERS = re.compile(r"^/usr/|/(?:nvidia|c\+\+|cuda[^/]*/(?:targets/[^/]+/)?include)/")


def own_lines(sites: Sequence[TraceSite]) -> Mapping[int, Line]:
    """The line of each site, by number: of one in a compiler's header, the one that calls it; of one without, as in
    `pow`, which compilers put into the function that calls it, the one before it in that function.
    """
    texts = {(site.file, site.line): site.source for site in sites}
    found: dict[int, Line] = {}
    latest: dict[str, Line] = {}
    for site in sites:
        line = site.file, site.line, site.source
        if _OF_COMPILERS.search(site.file):
            calls = (call for call in site.inlined if call[1] and not _OF_COMPILERS.search(call[0]))
            line = next(((file, number, texts.get((file, number), "")) for file, number in calls), line)
        if line[1]:
            latest[site.function] = line
        elif site.function:
            line = latest.get(site.function, line)
        found[site.site] = line
    return found
