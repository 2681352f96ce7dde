"""Machine code of programs, stored in the user's cache."""

import contextlib
import hashlib
from functools import cache
from pathlib import Path

from simtmm.cache import find, keep, own_folder
from simtmm.cache.compiled import sources_of
from simtmm.cuda.execution.translation.machine_code import (
    MachineCode,
    PayingCode,
    compile_assembly,
    is_long,
    seconds_for_speed,
)
from simtmm.errors import OutputError
from simtmm.native.machine_code import circumstances

AGAIN = 0.25  # of the time that code runs before it is compiled for speed, where it has run before


def machine_code(assembly: str, label: str, quick: bool = False) -> MachineCode:
    """The machine code of LLVM assembly, from the cache if the same was compiled before for such a processor.

    label: what people who look into the cache see. quick: as of `compile_assembly`; what was compiled for speed serves.
    """
    return _kept(assembly, label, False) or (quick and _kept(assembly, label, True)) or _new(assembly, label, quick)


def code_that_pays(assembly: str, label: str) -> MachineCode:
    """Likewise, compiled for speed once it has run for as long as that takes, and quickly before.

    What is stored already and runs again is expected to do so again and again: it has to run for a part of that.
    """
    if is_long(assembly):
        return machine_code(assembly, label)
    kept = _kept(assembly, label, False)
    if kept is not None:
        return kept
    again, seconds = _kept(assembly, label, True), seconds_for_speed(assembly)
    quick, seconds = (again, AGAIN * seconds) if again else (_new(assembly, label, True), seconds)
    return PayingCode(quick, lambda: machine_code(assembly, label), seconds)


def _kept(assembly: str, label: str, quick: bool) -> MachineCode | None:
    found = find(own_folder("cuda"), label, _key(assembly, quick), ".o")
    if found is not None:
        with contextlib.suppress(OSError):  # removed meanwhile, for instance
            return MachineCode(found.read_bytes())
    return None


def _new(assembly: str, label: str, quick: bool) -> MachineCode:
    code = compile_assembly(assembly, quick)
    with contextlib.suppress(OutputError):  # a full disk, for instance: it runs all the same
        keep(own_folder("cuda"), label, _key(assembly, quick), ".o", lambda path: path.write_bytes(code))
    return MachineCode(code)


def _key(assembly: str, quick: bool) -> str:
    how = ("quick",) if quick else ()
    return hashlib.sha256("\0".join((assembly, _circumstances(), *how)).encode()).hexdigest()[:32]


@cache
def _circumstances() -> str:
    """What else decides the code: LLVM, the processor, and how it is compiled."""
    return "\0".join((*circumstances(), sources_of(compile_assembly.__module__)))


def label_of(name: str) -> str:
    """A name with only characters that a file name may have."""
    return "".join(letter if letter.isalnum() else "-" for letter in Path(name).stem)[:40] or "kernel"
