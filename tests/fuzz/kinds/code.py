"""PTX, machine code, binaries, CUDA sources before they are compiled, and words for compilers and launches."""

import contextlib
import json
import subprocess
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

from simtmm import record
from simtmm.cuda.checks.active import checking
from simtmm.cuda.checks.names import checks_of
from simtmm.cuda.compilers import compile_source, module_of_ptx
from simtmm.cuda.compilers.binaries.disassembly import Disassembly, disassembled
from simtmm.cuda.compilers.binaries.fat_binary import embedded_ptx
from simtmm.cuda.compilers.complaint import complaint
from simtmm.cuda.compilers.names import bare_name, demangled, entry_named, template_kernels
from simtmm.cuda.compilers.wheels import find_tool
from simtmm.cuda.execution.translation.machine_code import MachineCode, compile_assembly
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.ptx import parse_module
from simtmm.cuda.sass.kernel import lifted_kernel
from simtmm.cuda.signature import signature
from simtmm.programs.building.flags import parse_flags, split_flags
from simtmm.programs.building.main_function import has_main
from simtmm.recorder.compiled.cuda_file import cuda_program
from simtmm.recorder.unmarked import marked_lines
from simtmm.study.design.source_text import deciding_text
from tests.fuzz import at_random
from tests.fuzz.kinds.kind import Kind, Make, as_json
from tests.fuzz.targets.cuda_files import ARGUMENTS, FLAGS, SOURCE, WORDS, inputs_of
from tests.fuzz.targets.ptx import PTX, translated

COPIES = """
__global__ void copies(const float* x, float* y)
{
    __shared__ alignas(16) float cache[64];
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(cache + threadIdx.x));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(x + threadIdx.x));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    y[threadIdx.x] = cache[threadIdx.x ^ 1];
}
"""


@cache
def _compiled(source: str) -> str:
    return compile_source(source, architecture=80).ptx


@cache
def _disassembly(source: str) -> tuple[str, Disassembly]:
    ptx = _compiled(source)
    return ptx, disassembled(ptx, "sm_80")


@cache
def _cubin(form: str) -> bytes:
    """The kernel as a .cubin that holds its PTX, or as a fat binary."""
    with TemporaryDirectory() as folder:
        source, made = Path(folder) / "k.cu", Path(folder) / f"k.{form}"
        source.write_text(SOURCE)
        words = [str(find_tool("nvcc")), f"-{form}", "-lineinfo", "-arch=sm_80", "-o", str(made), str(source)]
        if form == "fatbin":
            words[3:4] = ["-gencode", "arch=compute_80,code=[compute_80,sm_80]"]
        subprocess.run(words, check=True, capture_output=True)
        return made.read_bytes()


def _text(texts: Callable[[], list[str]]) -> Make:
    return lambda random: at_random.changed_bytes(random, [text.encode() for text in texts()])


def _translated(folder: Path, content: bytes) -> object:
    return translated(content.decode("utf-8", "replace"))


def _lifted(folder: Path, content: bytes) -> object:
    """What stands in nvdisasm's words, lifted and translated."""
    ptx, plain = _disassembly(SOURCE)
    text = content.decode("utf-8", "replace")
    found = Disassembly(text, plain.constants, plain.variables, plain.addresses, plain.shared_bytes)
    module = parse_module(ptx)
    (entry,) = (name for name, function in module.functions.items() if function.entry)
    return Program(lifted_kernel(module, entry, found, 80, 0).module, entry).assembly()


def _embedded(folder: Path, content: bytes) -> object:
    return [[module_of_ptx(variant.text, "k") for variant in unit] for unit in embedded_ptx(content, "k.fatbin")]


def _signed(folder: Path, content: bytes) -> object:
    linked = LinkedModule([module_of_ptx(content.decode("utf-8", "replace"), "k")])
    return [signature(linked, name) for name, function in linked.module.functions.items() if function.entry]


MACHINE_CODE_OF = 4  # assembling and disassembling takes ten times what all else does: one input in so many runs so


def _run(folder: Path, content: bytes) -> object:
    """Run within its arrays, or refused; each read, write, barrier and copy looked at besides."""
    path = folder / "k.ptx"
    path.write_bytes(content)
    arguments = [argument.partition("=")[2] for argument in ARGUMENTS]
    if b"copies" in content:
        arguments = ["random:float32:64", "zeros:float32:64"]
    form = "ptx" if zlib.crc32(content) % MACHINE_CODE_OF else "compiled"
    with _nothing_kept(), checking(checks_of("all")) as checker:
        trace = record(cuda_program(path, 2, 32, arguments), most_events=100_000, form=form)
    return json.dumps([trace.info.to_dict(), checker.found.to_dict(), checker.found.lines()])


@contextlib.contextmanager
def _nothing_kept() -> Iterator[None]:
    """No input comes twice, and the cache, which would hold hundreds of thousands, is looked through by each."""
    with contextlib.ExitStack() as patches:
        for module in ("binaries.disassembly", "ptxas"):
            patches.enter_context(patch(f"simtmm.cuda.compilers.{module}.kept", lambda name, parts, make: make()))
        patches.enter_context(patch("simtmm.cuda.function.machine_code", _compiled_quickly))
        yield


def _compiled_quickly(assembly: str, label: str, quick: bool) -> MachineCode:
    return MachineCode(compile_assembly(assembly, quick=True))


def _front(folder: Path, content: bytes) -> object:
    """All that is made of a source before a compiler has it."""
    path, text = folder / "k.cu", content.decode("utf-8", "replace")
    path.write_bytes(content)
    return has_main(path), template_kernels(text), marked_lines(text), deciding_text(path, content)


LOGS = [
    'k.cu(3): error: identifier "y" is undefined\n    y[i] = 2;\n    ^\n\n1 error detected in "k.cu".\n',
    "nvcc fatal   : Unknown option '-x'\n", "ptxas /tmp/k.ptx, line 7; error   : Unknown symbol 'f'\nptxas fatal\n",
    'catastrophic error: cannot open source file "a.h"\n', "kernel.cu(1): error: no operator matches\n" * 20, "",
]  # fmt: skip
NAMES = [
    "_Z5scaleIfEvT_Pf", "_ZN2ns5saxpyIfLi3EEEvPKT_iPS1_", "saxpy", "_Z1kPK6float2S1_",
    "_Z3addIN4cuda3std5arrayIfLm3EEEEvT_",
    "_ZN65_GLOBAL__N__1f7b_4_k_cu_1k7kernelsEv", "_Z1fDpT_", "_Z", "_ZN", "scale<float, 3>", "ns::saxpy<(int)3>",
]  # fmt: skip


def _complained(folder: Path, content: bytes) -> None:
    raise complaint(content.decode("utf-8", "replace"), "k.cu")


def _named(folder: Path, content: bytes) -> object:
    name = content.decode("utf-8", "replace").replace("\0", "")
    return demangled(name), bare_name(name), entry_named([name, *NAMES], name)


def _flags(random: Random) -> bytes:
    return as_json([random.random() < 0.5, *at_random.words(random, FLAGS, 5)])


def _parsed(folder: Path, content: bytes) -> None:
    """None that is taken says more to a shell, or to the host's compiler, than itself."""
    as_text, *words = json.loads(content)
    made = parse_flags(split_flags([" ".join(words)]) if as_text else words)
    for word in (*made.compiling, *made.macros, *made.linking):
        assert not set(word) & set("\n\0")
    for word in made.compiling:
        assert not set(word) & set(";|&<>$`\\\"'#!{}[]?")


def _launch(random: Random) -> bytes:
    grid, block = (random.choice([*at_random.words(random, WORDS, 1), 1, 2, 32, "4x2"]) for _ in range(2))
    shared = random.choice([0, 0, 1, -1, 2**31, 2**63])
    return as_json([grid, block, shared, *at_random.words(random, [*ARGUMENTS, *WORDS], 5)])


def _launched(folder: Path, content: bytes) -> object:
    grid, block, shared, *arguments = json.loads(content)
    path = folder / "launched.ptx"
    path.write_text(_compiled(SOURCE))
    return inputs_of(cuda_program(path, grid, block, arguments, shared=shared))


KINDS = [
    Kind("ptx", "PTX by hand, translated for LLVM", _text(lambda: [PTX]), _translated),
    Kind("ptx-compiled", "PTX that NVRTC made, translated",
         _text(lambda: [_compiled(SOURCE), _compiled(COPIES)]), _translated),
    Kind("ptx-run", "the same, run and checked for races, reads and barriers",
         _text(lambda: [_compiled(SOURCE), _compiled(COPIES)]), _run),
    Kind("signature", "parameters of kernels, from names, PTX and sources",
         _text(lambda: [PTX, _compiled(SOURCE)]), _signed),
    Kind("machine-code", "nvdisasm's text, lifted to PTX and translated",
         _text(lambda: [_disassembly(SOURCE)[1].text]), _lifted),
    Kind("binary", "objects and fat binaries",
         lambda random: at_random.changed_bytes(random, [_cubin("cubin"), _cubin("fatbin")]), _embedded),
    Kind("source", "CUDA sources before they are compiled", _text(lambda: [SOURCE, COPIES]), _front),
    Kind("complaint", "what a compiler says", _text(lambda: LOGS), _complained),
    Kind("name", "names of kernels, mangled", _text(lambda: NAMES), _named),
    Kind("flags", "words for the compiler", _flags, _parsed),
    Kind("launch", "grids, blocks and arguments", _launch, _launched),
]  # fmt: skip
