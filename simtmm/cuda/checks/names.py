"""The checks by the names of compute-sanitizer's tools."""

from dataclasses import dataclass

from simtmm.errors import KernelError, nearest, shown

MEMCHECK, RACECHECK, INITCHECK, SYNCCHECK = "memcheck", "racecheck", "initcheck", "synccheck"
ALL = "all"
CHECKS = (RACECHECK, INITCHECK, SYNCCHECK)  # in the order of the fields of Checks
NAMES = (MEMCHECK, *CHECKS)


@dataclass(frozen=True)
class Checks:
    """The checks, in addition to accesses out of bounds, which are always checked."""

    racecheck: bool = False
    initcheck: bool = False
    synccheck: bool = False

    @property
    def any(self) -> bool:
        """Whether anything is."""
        return self.racecheck or self.initcheck or self.synccheck

    @property
    def names(self) -> tuple[str, ...]:
        """Of the checks."""
        return tuple(name for name in CHECKS if getattr(self, name))


def checks_of(text: str, where: str = "--check") -> Checks:
    """From names with commas between, or `all`.

    text: as the command line has it.
    where: what messages call the option.

    Raises KernelError for another name.
    """
    requested = [name.strip() for name in text.split(",")]
    for name in requested:
        if name not in (*NAMES, ALL):
            known = nearest(name, (*NAMES, ALL), (*NAMES, ALL))
            raise KernelError(f"{where} {shown(text)}: {shown(name)} is not a check{known}")
    return Checks(*(name in requested or ALL in requested for name in CHECKS))
