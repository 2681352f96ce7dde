"""A drawn kernel: its source, the threads it runs with, and what they read."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from random import Random

import numpy as np

from tests.cuda.whole.declarations import Declarations
from tests.cuda.whole.features import draw_features
from tests.cuda.whole.together import FIRST
from tests.cuda.whole.tree import Node
from tests.cuda.whole.types import U32, Variable

COMMON = (Path(__file__).parent / "common.h").read_text(encoding="utf-8")
INPUTS = 64  # words of 64 bits that all threads read
OUTPUTS = 12  # that each thread writes
# ptxas writes other machine code with each: what few registers do not hold lies in local memory
_OPTIONS = ((), (), (), ("-Xptxas=-O1",), ("-maxrregcount=32",), ("-Xptxas=-O0",))
_BEGIN = """\
  __shared__ u32 cells_u32[96]; __shared__ i32 cells_i32[96];
  __shared__ f32 cells_f32[96]; __shared__ u64 cells_u64[96];
  __shared__ u32 sums[8]; __shared__ u64 wide_sums[8];
  const u32 tid = threadIdx.x, size = blockDim.x, slot = blockIdx.x * size + tid, lane = tid & 31;
  u64* mine = out + slot * 12;
  u64 h = 0;
  u32 mask = size - (tid & ~31u) >= 32 ? ~0u : (1u << (size & 31)) - 1;
  cells_u32[tid] = slot * 0x9e3779b1u; cells_i32[tid] = (i32)slot - 40;
  cells_f32[tid] = (f32)slot * 0.75f; cells_u64[tid] = ~(u64)slot;
  if (tid < 8) sums[tid] = tid & 1 && tid < 4 ? ~0u : 0, wide_sums[tid] = tid & 1 && tid < 4 ? ~0ull : 0;
  __syncthreads();
"""


@dataclass(frozen=True)
class Kernel:
    """A kernel by its seed.

    outside: declarations. inside: statements. shown: what each thread writes at its end. Grid and block have that many
    blocks and threads. written: its text, where that is read from a file. options: of NVRTC and ptxas.
    """

    seed: int
    outside: tuple[Node, ...]
    inside: tuple[Node, ...]
    shown: tuple[str, ...]
    blocks: int
    threads: int
    features: frozenset[str] = frozenset()
    written: str = ""
    options: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"k{self.seed}"

    @cached_property
    def text(self) -> str:
        """What stands behind common.h."""
        if self.written:
            return self.written
        space = f"of_{self.name}"
        shown = " ".join(f"mine[{at + 1}] = {each};" for at, each in enumerate(self.shown))
        lines = [f"namespace {space} {{", *(line for node in self.outside for line in node.lines()), "}"]
        lines += [f'extern "C" __global__ void {self.name}(const u64* in, u64* out, u32* totals, u64* wide_totals) {{']
        lines += [f"  using namespace {space};", _BEGIN.rstrip("\n")]
        lines += [line for node in self.inside for line in node.lines(1)]
        return "\n".join((*lines, f"  {shown}", "  mine[0] = h;", "}\n"))

    def arrays(self) -> list[np.ndarray]:
        """What it takes: inputs, outputs, and totals of 32 and of 64 bits."""
        random = Random(f"inputs {self.seed}")
        words = [_word(random) for _ in range(INPUTS)]
        first = np.array(FIRST)
        return [
            np.array(words, np.uint64),
            np.zeros(self.blocks * self.threads * OUTPUTS, np.uint64),
            first.astype(np.uint32),
            first.astype(np.uint64),
        ]

    def but(self, **changed) -> "Kernel":
        """The same with other nodes."""
        return replace(self, **changed)

    @property
    def _said_options(self) -> str:
        return "".join(f" {each}" for each in self.options)

    def save(self, path: Path, said: str) -> None:
        """Write it to a file. said: of it, in a line."""
        head = f"// {said}\n// Kernel {self.seed}: {self.blocks} blocks of {self.threads} threads{self._said_options}\n"
        path.write_text(head + self.text, encoding="utf-8")


def load(path: Path) -> Kernel:
    """A kernel that was saved."""
    text = path.read_text(encoding="utf-8")
    seed, blocks, threads, options = re.search(
        r"^// Kernel (\d+): (\d+) blocks of (\d+) threads(.*)", text, re.M
    ).groups()
    return Kernel(int(seed), (), (), (), int(blocks), int(threads), written=text, options=tuple(options.split()))


def draw(seed: int) -> Kernel:
    """The kernel of a seed."""
    random = Random(f"whole kernel {seed}")
    features = draw_features(random)
    writer = Declarations(random, features)
    outside = writer.outside()
    writer.outside_nodes = outside.nodes
    writer.variables.append(Variable("tid", U32, writable=False))
    with writer.block("mask", all_here=True) as body:
        writer.inside()
        writer.statements(3, count=100)
        shown = [each for each in writer.variables if not each.length and "tid" not in each.text]
        texts = tuple(f"(u64)bits_of({each.text})" for each in shown[: OUTPUTS - 1])
    blocks, threads = random.choice(((1, 32), (1, 64), (2, 32), (2, 40), (3, 33), (1, 96), (2, 70), (1, 17)))
    options = random.choice(_OPTIONS)
    return Kernel(
        seed, tuple(outside.nodes), tuple(body.nodes), texts, blocks, threads, features, options=options
    )  # fmt: skip


def _word(random: Random) -> int:
    """Of many magnitudes, and floats that compute to something."""
    kind = random.randrange(6)
    if kind == 0:
        return random.choice((0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1, 0x8000000080000000, 0x7FF0000000000000))
    if kind == 1:
        return int(np.float64(random.uniform(-1000, 1000)).view(np.uint64))
    if kind in (2, 3):
        halves = np.array([random.uniform(-100, 100), random.gauss(0, 1e6)], np.float32)
        return int(halves.view(np.uint64)[0])
    return random.getrandbits(64) >> random.choice((0, 0, 16, 32, 48, 57))
