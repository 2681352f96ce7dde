"""Number the sites of a kernel's source: LD(a, i) becomes SIMTMM_LD(7, a, i), and a table says what 7 is."""

import re

from simtmm.trace.schema import Kind, TraceSite

MACROS = {
    "LD": Kind.LOAD,
    "LD_ASYNC": Kind.ASYNC,
    "ST": Kind.STORE,
    "JOIN": Kind.JOIN,
    "SHARED": Kind.SHARED_ARRAY,
    "LDS": Kind.SHARED_LOAD,
    "STS": Kind.SHARED_STORE,
    **{f"ATOMIC_{update}": Kind.ATOMIC for update in ("ADD", "MIN", "MAX", "AND", "OR", "XOR", "EXCH", "CAS")},
    "SYNC": Kind.BARRIER,
    "OP": Kind.WORK,
}

_TOKENS = re.compile(
    r"(?P<skipped>//[^\n]*|/\*.*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*')"
    rf"|(?<![\w.])(?P<macro>{'|'.join(sorted(MACROS, key=len, reverse=True))})\s*\((?P<empty>\s*\))?",
    re.DOTALL,
)


def number_sites(source: str) -> tuple[str, list[TraceSite]]:
    """The source with each use of a macro numbered, in textual order, and the site table.

    Lines stay where they are. A use within a macro of the kernel's own is one site, however often that is used.
    """
    sites: list[TraceSite] = []
    lines = source.split("\n")

    def number(found: re.Match[str]) -> str:
        if found["skipped"] is not None:
            return found[0]
        line = source.count("\n", 0, found.start()) + 1
        site = len(sites)
        sites.append(TraceSite(site, MACROS[found["macro"]].name.lower(), line, lines[line - 1].strip()))
        return (
            found[0]
            .replace(found["macro"], f"SIMTMM_{found['macro']}", 1)
            .replace("(", f"({site}" if found["empty"] else f"({site}, ", 1)
        )

    return _TOKENS.sub(number, source), sites
