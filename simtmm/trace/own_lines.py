"""Lines of a program's own files for what compilers bring along: headers of theirs, and functions without lines; and
for what is computed on the way to an access at another line.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from simtmm.trace.schedule import NO_SITE, Listing
from simtmm.trace.schema import TraceSite

Line = tuple[str, int, str]
"""File, line and its text."""

MANY = 8  # instructions of another line, and
TIMES = 2  # so many times those of its own, from which on what a site computes is of that line
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


def computed_at(lines: Mapping[int, Line], listings: Sequence[Listing]) -> Mapping[int, Line]:
    """Of sites most of whose instructions are of another line than their own, that line, by the site's number.

    A site is an access with all that is computed since the one before: where that is a division of the line above, say,
    its time is that line's.

    lines: of each site, as `own_lines` has them.
    listings: which instructions are whose; machine code where it is known.
    """
    texts = {line[:2]: line for line in lines.values() if line[1]}
    counts: defaultdict[int, Counter[tuple[str, int]]] = defaultdict(Counter)
    for listing in sorted(listings, key=lambda each: each.code != "sass"):
        known = set(counts)
        for place, site in zip(listing.places, listing.sites, strict=True):
            if site != NO_SITE and site not in known:
                counts[site][place] += 1
    found: dict[int, Line] = {}
    for site, own in counts.items():
        place, most = own.most_common(1)[0]
        of_own = own[lines[site][:2]] if site in lines else most
        if place in texts and most >= MANY and most >= TIMES * of_own:
            found[site] = texts[place]
    return found
