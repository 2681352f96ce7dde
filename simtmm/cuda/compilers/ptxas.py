"""A kernel's resources on a core group, as ptxas reports them: registers, shared memory, spills."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from simtmm.children.start import run
from simtmm.cuda.compilers.binaries.elf import sections_of
from simtmm.cuda.compilers.complaint import complaint
from simtmm.cuda.compilers.kept import kept
from simtmm.cuda.compilers.wheels import find_tool, stamp
from simtmm.temporary import scratch

_PROPERTIES = re.compile(r"Function properties for '?([^':\s]+)")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_EXTERNAL = re.compile(r"^\s*\.extern\s+\.func\b[^;{]*?([\w$]+)\s*(?:\([^)]*\)\s*)?;", re.MULTILINE | re.DOTALL)
_KNOWN_TO_PTXAS = {"vprintf", "malloc", "free", "__assertfail", "cudaGetParameterBufferV2", "cudaLaunchDeviceV2"}


@dataclass(frozen=True)
class Resources:
    """What a kernel takes.

    registers: of a thread [32-bit registers].
    shared_bytes: static shared memory of a block [bytes].
    local_bytes: stack of a thread, what is called included [bytes].
    spill_store_bytes, spill_load_bytes: of a thread's registers that did not fit [bytes of instructions].
    barriers: of a block, of 16.
    constant_bytes: of all constant banks that the kernel has to itself, its parameters among them [bytes].
    """

    registers: int
    shared_bytes: int = 0
    local_bytes: int = 0
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0
    barriers: int = 0
    constant_bytes: int = 0


def resources(
    ptx: str, architecture: str, options: Sequence[str] = (), name: str = "kernel"
) -> Mapping[str, Resources]:
    """What each entry of a PTX module takes, by the entry's name.

    ptx: the module's text. Where it calls functions of other modules (`.extern .func`), the needs given are the entry's
        own, without theirs; `linked_resources` has both.
    architecture: that is assembled for, as "sm_90" or "sm_90a".
    options: further options of ptxas.
    name: what errors call the module.

    Raises CompilerError with ptxas' first error, or where there is no ptxas.
    """
    return _kept_resources([ptx], architecture, options, name, link=False)


def linked_resources(
    modules: Sequence[str], architecture: str, options: Sequence[str] = (), name: str = "kernel"
) -> Mapping[str, Resources]:
    """What each entry takes of PTX modules that call one another's functions: after nvlink has put them together.

    Spills are those of the entry's own code; nvlink reports no sums of them. Arguments and errors as of `resources`.
    """
    return _kept_resources(list(modules), architecture, options, name, link=True)


def _kept_resources(
    modules: list[str], architecture: str, options: Sequence[str], name: str, link: bool
) -> Mapping[str, Resources]:
    tools = [stamp(find_tool("ptxas"))] + ([stamp(find_tool("nvlink"))] if link else [])
    found = kept(
        f"{name}-resources",
        ["resources", str(link), architecture, *options, "", *tools, *modules],
        lambda: {entry: asdict(each) for entry, each in _found(modules, architecture, options, name, link).items()},
    )
    return {entry: Resources(**values) for entry, values in found.items()}


def _found(
    modules: list[str], architecture: str, options: Sequence[str], name: str, link: bool
) -> dict[str, Resources]:
    with scratch("ptxas") as folder:
        found: dict[str, Resources] = {}
        for number, ptx in enumerate(modules):
            source = folder / f"{number}.ptx"
            source.write_text(ptx, encoding="utf-8")
            relocatable = ["-c"] if link or calls_others(ptx) else []
            command = [str(find_tool("ptxas")), "-v", f"-arch={architecture}", *options, *relocatable, str(source)]
            assembled = source.with_suffix(".cubin")
            found |= _entries(_output_of([*command, "-o", str(assembled)], name, folder), assembled)
        if link:
            parts = [str(folder / f"{number}.cubin") for number in range(len(modules))]
            command = [str(find_tool("nvlink")), "-v", f"-arch={architecture}", *parts]
            linked = folder / "linked.cubin"
            for entry, whole in _entries(_output_of([*command, "-o", str(linked)], name, folder), linked).items():
                alone = found.get(entry, whole)
                found[entry] = Resources(
                    whole.registers, whole.shared_bytes, max(whole.local_bytes, alone.local_bytes),
                    alone.spill_store_bytes, alone.spill_load_bytes, whole.barriers, whole.constant_bytes,
                )  # fmt: skip
    return found


def calls_others(ptx: str) -> bool:
    """Whether a module declares functions that others must define, those apart that CUDA itself has."""
    return any(name not in _KNOWN_TO_PTXAS for name in _EXTERNAL.findall(ptx))


def _output_of(command: list[str], name: str, folder: Path) -> str:
    """All that a tool printed. Raises CompilerError where it failed."""
    done = run(command, folder=folder, scratch=folder)
    log = f"{done.text}{done.complaints}"
    if done.status:
        raise complaint(log, name)
    return log


def _entries(log: str, assembled: Path) -> dict[str, Resources]:
    """The resources that `ptxas -v` or `nvlink -v` reports for each entry, in lines that follow its name.

    Constants are counted in what was assembled: ptxas prints them for some architectures only.
    """
    constants = _constant_bytes(assembled.read_bytes())
    found: dict[str, Resources] = {}
    entry, frame = "", (0, 0, 0)
    for line in log.splitlines():
        if match := _PROPERTIES.search(line):
            entry, frame = match[1], (0, 0, 0)
        elif match := _FRAME.search(line):
            frame = int(match[1]), int(match[2]), int(match[3])
        elif entry and (registers := re.search(r"[Uu]sed (\d+) registers", line)):
            found[entry] = Resources(
                int(registers[1]),
                _number(line, r"(\d+)(?:\+\d+)? bytes smem"),
                max(frame[0], _number(line, r"(\d+) bytes cumulative stack"), _number(line, r"(\d+) stack")),
                *frame[1:],
                _number(line, r"used (\d+) barriers"),
                constants.get(entry, 0),
            )
    return found


def _constant_bytes(assembled: bytes) -> dict[str, int]:
    """Sizes of the constant banks that an entry has to itself: sections `.nv.constantN.ENTRY`."""
    sizes: dict[str, int] = {}
    for section, content in sections_of(assembled):
        if named := re.fullmatch(r"\.nv\.constant\d+\.(.+)", section):
            sizes[named[1]] = sizes.get(named[1], 0) + len(content)
    return sizes


def _number(line: str, pattern: str) -> int:
    found = re.search(pattern, line)
    return int(found[1]) if found else 0
