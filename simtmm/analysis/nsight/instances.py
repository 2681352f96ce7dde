"""The kernels of a run, instances of templates apart, and which of them a measured name is."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from simtmm.measurement.nsight import KernelName, kernel_name
from simtmm.trace.info import TraceInfo
from simtmm.trace.schedule import NO_SITE, Listing

_PARAMETER = re.compile(r"\[(_Z\w+)_param_\d+\]")  # PTX names a parameter by the mangled name of its kernel


@dataclass(frozen=True)
class Instance:
    """A kernel of a run.

    name: its name, with its template's arguments where its PTX says them. sites: of the trace, that are its own; None
    where the trace does not say. sass: its machine code, None where there is none.
    """

    name: KernelName
    sites: frozenset[int] | None
    sass: Listing | None


def instances(info: TraceInfo) -> list[Instance]:
    """The kernels of a trace, in the order of their code.

    info: of the trace.
    """
    by_code: dict[str, dict[str, list[Listing]]] = defaultdict(lambda: defaultdict(list))
    for listing in info.listings:
        by_code[listing.code][listing.kernel].append(listing)
    found = []
    for kernel in dict.fromkeys(launch.kernel for launch in info.launches):
        sass, ptx = (by_code[code][kernel] for code in ("sass", "ptx"))
        own = sass or ptx
        for place, listing in enumerate(own):
            named = ptx[place] if len(ptx) == len(own) else None
            sites = frozenset(site for site in listing.sites if site != NO_SITE)
            found.append(Instance(_name(kernel, named), sites or None, listing if sass else None))
        if not own:
            found.append(Instance(kernel_name(kernel), None, None))
    return found


def names_of_launches(info: TraceInfo) -> list[KernelName]:
    """A name for each launch: its instance's where its function has one, else the function's alone.

    info: of a trace.
    """
    of_base: dict[str, list[KernelName]] = defaultdict(list)
    for each in instances(info):
        of_base[each.name.base].append(each.name)
    names = []
    for launch in info.launches:
        given = kernel_name(launch.kernel)
        known = of_base[given.base]
        names.append(known[0] if len(known) == 1 else given)
    return names


def _name(kernel: str, ptx: Listing | None) -> KernelName:
    texts: Sequence[str] = () if ptx is None else ptx.texts
    mangled = next((match[1] for text in texts if (match := _PARAMETER.search(text))), kernel)
    own, given = kernel_name(mangled), kernel_name(kernel)
    return own if own.may_be(given) else given
