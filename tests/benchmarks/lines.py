"""python -m tests.benchmarks.lines [KERNEL] [--machine NAME] [--top N]: where the engine's time goes, line by line.

The engine's loop is one function of machine code, in which a profiler sees nothing. Here it is compiled with the lines
of its sources as debug information, and Linux' perf samples it; binutils' addr2line says whose lines the samples are.
Most are waits for memory: a line with many is one whose data should be closer, or fetched beforehand.
"""

import argparse
import inspect
import linecache
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from simtmm import load_machine, lower, record, simulate
from simtmm.native import loop, machine_code, program, statements
from simtmm.native.written import Written, first_line

KERNELS = {"gemm": {"n": 320}, "stream": {"n": 1 << 22}, "bfs": {"n": 65536}}
RUNS = 5
SAMPLES = 2000  # a second
FIRST_NODE = 100_000  # numbers of metadata from here on are not the translator's


class Lines:
    """Metadata of LLVM that says which line of which source each instruction is of."""

    def __init__(self) -> None:
        self._nodes: list[str] = []
        self._files: dict[str, int] = {}
        self._kind = self._node("!DISubroutineType(types: !{})")
        self._all = self.file("/all")
        what = f"language: DW_LANG_C99, file: !{self._all}, isOptimized: true, runtimeVersion: 0"
        self._unit = self._node(f"distinct !DICompileUnit({what}, emissionKind: LineTablesOnly)")

    def _node(self, text: str) -> int:
        self._nodes.append(text)
        return FIRST_NODE + len(self._nodes) - 1

    def file(self, path: str) -> int:
        """The number of a source file."""
        if path not in self._files:
            self._files[path] = self._node(f'!DIFile(filename: "{path}", directory: "/")')
        return self._files[path]

    def function(self, name: str, path: str, line: int) -> int:
        """The number of a function that begins at a line."""
        at = (
            f"scope: !{self.file(path)}, file: !{self.file(path)}, line: {line}, scopeLine: {line}, unit: !{self._unit}"
        )
        flags = "spFlags: DISPFlagDefinition | DISPFlagOptimized"
        return self._node(f'distinct !DISubprogram(name: "{name}", {at}, type: !{self._kind}, {flags})')

    def place(self, function: int, line: int) -> int:
        """The number of a line in a function."""
        return self._node(f"!DILocation(line: {line}, column: 1, scope: !{function})")

    def text(self) -> str:
        """All of it, as it stands at the end of a module."""
        versions = [
            self._node(f'!{{i32 2, !"{name}", i32 {of}}}')
            for name, of in (("Debug Info Version", 3), ("Dwarf Version", 4))
        ]
        head = [f"!llvm.dbg.cu = !{{!{self._unit}}}", f"!llvm.module.flags = !{{!{versions[0]}, !{versions[1]}}}"]
        nodes = [f"!{number} = {node}" for number, node in enumerate(self._nodes, start=FIRST_NODE)]
        return "\n".join([*head, *nodes, ""])


class Marked(list[str]):
    """Instructions of a function, each with the line that is translated as it is added."""

    def __init__(self, of: Any, lines: Lines) -> None:
        super().__init__()
        function = of.function
        path = function.__module__ if isinstance(function, Written) else inspect.getsourcefile(function)
        self.first = first_line(function)
        self.number = lines.function(function.__name__, str(path), self.first)
        self._of, self._lines, self._places = of, lines, dict[int, int]()

    def append(self, instruction: str) -> None:
        """Add one; labels have no line."""
        if instruction.startswith("  "):
            line = self.first + max(self._of.line, 1) - 1
            if line not in self._places:
                self._places[line] = self._lines.place(self.number, line)
            instruction += f", !dbg !{self._places[line]}"
        super().append(instruction)


@contextmanager
def marked(loaded: list[tuple[int, bytes]]) -> Iterator[None]:
    """While this lasts, loops are compiled anew, with lines. loaded: gets of each its address and its object code."""
    lines = Lines()
    begin, whole, entered = statements.Function.__init__, program.assembly, loop._Code.__init__

    def function(self: Any, *given: Any, **named: Any) -> None:
        with patch.object(statements.Function, "lines", property(lambda of: of.__dict__["lines"], _keep), create=True):
            begin(self, *given, **named)
        head, body = self.text.split("\n", 1)
        self.text = f"{head[:-1]}!dbg !{self.__dict__['lines'].number} {{\n{body}"

    def _keep(self: Any, given: list[str]) -> None:
        self.__dict__["lines"] = given if isinstance(given, Marked) else Marked(self, lines)

    def assembly(*given: Any, **named: Any) -> str:
        text = whole(*given, **named)
        entry = lines.function("entry", "/all", 1)
        before, _, body = text.partition(f"define i64 @{machine_code.ENTRY}")
        body = body.replace("nounwind {", f"nounwind !dbg !{entry} {{", 1)
        body = re.sub(r"(?m)^(  .*call .*)$", rf"\1, !dbg !{lines.place(entry, 1)}", body, count=1)
        return f"{before}define i64 @{machine_code.ENTRY}{body}\n{lines.text()}"

    def code(self: Any, object_code: bytes) -> None:
        entered(self, object_code)
        loaded.append((self.address, object_code))

    with (
        patch.object(statements.Function, "__init__", function),
        patch.object(program, "assembly", assembly),
        patch.object(loop, "shipped", lambda *_: None),
        patch.object(loop, "find", lambda *_: None),
        patch.object(loop, "keep", lambda *_: None),
        patch.object(loop._Code, "__init__", code),
    ):
        yield


def profiled(kernel: str, name: str, folder: Path) -> None:
    """Simulate, for perf to look on; the object code and its address are left in a folder."""
    machine, loaded = load_machine(name), list[tuple[int, bytes]]()
    workload = lower(record(kernel, KERNELS[kernel]), machine)
    with marked(loaded):
        simulate(machine, workload, threads=1)
    address, object_code = max(loaded, key=lambda each: len(each[1]))
    (folder / "loop.o").write_bytes(object_code)
    (folder / "address").write_text(str(address))
    begin = time.process_time()
    for _ in range(RUNS):
        simulate(machine, workload, threads=1)
    print(f"{kernel} on {machine.name}: {(time.process_time() - begin) / RUNS:.3f} s of the processor each")


def output_of(*command: str, text: str = "") -> str:
    """What a tool prints."""
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def told(folder: Path, top: int) -> None:
    """Print the functions and the lines that have most samples."""
    symbols = output_of("nm", str(folder / "loop.o")).splitlines()
    entry = next(int(line.split()[0], 16) for line in symbols if line.endswith(machine_code.ENTRY))
    base = int((folder / "address").read_text()) - entry
    size = (folder / "loop.o").stat().st_size
    samples = Counter(
        int(word, 16) - base for word in output_of("perf", "script", "-i", str(folder / "perf"), "-F", "ip").split()
    )
    samples = Counter({place: count for place, count in samples.items() if 0 <= place < size})
    section = ".ltext" if ".ltext" in output_of("objdump", "-h", str(folder / "loop.o")) else ".text"
    command = ("addr2line", "-i", "-f", "-a", "-j", section, "-e", str(folder / "loop.o"))
    functions, lines = Counter[str](), Counter[tuple[str, str]]()
    for block in re.split(r"(?m)^0x", output_of(*command, text="\n".join(map(hex, samples))))[1:]:
        place, *frames = block.splitlines()
        count = samples[int(place, 16)]
        lines[frames[1].split(" ")[0], frames[0]] += count
        for function in set(frames[::2]):
            functions[function] += count
    total = samples.total()
    print(f"\n{total} samples in the loop\n\nwith all that it calls")
    for function, count in functions.most_common(top):
        print(f"{count / total:6.1%} {function}")
    print("\nline by line")
    for (place, function), count in lines.most_common(top):
        path, _, line = place.rpartition(":")
        source = linecache.getline(path, int(line)).strip() if line.isdigit() else ""
        print(f"{count / total:6.1%} {function:22} {path.rpartition('/simtmm/')[2]}:{line} {source[:80]}")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernel", nargs="?", default="gemm", choices=KERNELS)
    parser.add_argument("--machine", default="h100-sxm")
    parser.add_argument("--top", type=int, default=30, help="functions and lines that are shown")
    parser.add_argument("--in", dest="folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.folder:
        profiled(given.kernel, given.machine, given.folder)
        return
    with tempfile.TemporaryDirectory() as made:
        again = [sys.executable, "-m", __spec__.name, given.kernel, "--machine", given.machine, "--in", made]
        record_it = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES), "-o", f"{made}/perf"]
        subprocess.run([*record_it, *again], check=True)
        told(Path(made), given.top)


if __name__ == "__main__":
    main()
