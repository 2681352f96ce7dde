"""Drawn kernels whose threads part, meet, wait, call and leave in every way that has one answer.

A kernel computes with registers %r0 to %r3 of a thread and writes them at its end, and so it does with sums of
its block in shared memory. %m is the mask of the lanes of a warp that are where a thread is. Branches depend on
threads. What needs all threads of a block stands where all are; what has no mask stands where nobody can know one.
"""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.cuda.execution.statements import CALLS, Writer

DEPTH = 3  # of statements in statements
LARGEST = 4  # statements of a list
RECURSION = 2  # calls in calls

_HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n"
_TAKEN = ".param .b32 ga, .param .b32 gb, .param .b32 gm, .param .b32 gd"
_BEGIN = """\
  .shared .align 4 .b32 slots[128];
  .shared .align 4 .b32 total;
  .shared .align 4 .b32 held;
  .shared .align 4 .b32 lock;
  mov.u32 %i, %tid.x;
  setp.eq.u32 %z, %i, %i;
  vote.sync.ballot.b32 %m, %z, 0xffffffff;
  mov.u32 %t0, %ctaid.x;
  mad.lo.u32 %r0, %t0, 977, %i;
  mul.lo.u32 %r1, %r0, 0x9e3779b1;
  shr.u32 %r2, %r1, 13;
  xor.b32 %r3, %r2, %i;
  mov.u32 %depth, RECURSION;
""".replace("RECURSION", str(RECURSION))
_END = """\
  ld.param.u64 %p, [out];
  mov.u32 %t0, %ntid.x;
  mov.u32 %t1, %ctaid.x;
  mad.lo.u32 %t0, %t0, %t1, %i;
  mad.wide.u32 %p, %t0, 16, %p;
  st.global.v4.u32 [%p], {%r0, %r1, %r2, %r3};
  bar.sync 0;
  ld.param.u64 %p, [totals];
  mad.wide.u32 %p, %t1, 4, %p;
  ld.shared.u32 %t0, [total];
  ld.shared.u32 %t2, [held];
  xor.b32 %t0, %t0, %t2;
  st.global.u32 [%p], %t0;
"""


@st.composite
def kernels(draw: Callable[..., Any], for_machine_code: bool = False) -> str:
    """The text of a module with a kernel "k" that takes pointers: 4 numbers for each thread, and one for each block.

    for_machine_code: leave out calls by address, which are not lifted, and locks, because ptxas may move the release of
    one behind a WARPSYNC at which the lanes that want it are waited for; that hangs on hardware as well.
    """
    leaves = draw(st.booleans())
    count = draw(st.integers(0, 2))
    names = [f"f{number}" for number in range(count)]
    functions = [_Writer(draw, False, leaves, names, for_machine_code).function(name) for name in names]
    declared = "".join(f".func (.param .b32 fr) {name}({_TAKEN});\n" for name in names)
    writer = _Writer(draw, True, leaves, names, for_machine_code)
    writer.statements(DEPTH, together=True)
    kernel = f".visible .entry k(.param .u64 out, .param .u64 totals)\n{{\n{writer.text(_BEGIN, _END)}}}\n"
    return _HEAD + declared + "".join(functions) + kernel


class _Writer(Writer):
    """Writes functions: statements, and statements in them."""

    def function(self, name: str) -> str:
        """A function of four numbers: two to compute with, the mask, and how many calls deep it may call."""
        self._write("ld.param.b32 %r0, [ga];", "ld.param.b32 %r1, [gb];", "ld.param.b32 %m, [gm];",
                    "ld.param.b32 %depth, [gd];", "add.u32 %r2, %r0, %r1;", "xor.b32 %r3, %r0, 5;")  # fmt: skip
        self.statements(DEPTH - 1, together=False)
        end = "  add.u32 %r0, %r0, %r3;\n  st.param.b32 [fr], %r0;\n"
        # Who returns early returns what it had first.
        begin = "  st.param.b32 [fr], 41;\n"
        return f".func (.param .b32 fr) {name}({_TAKEN})\n{{\n{self.text(begin, end)}}}\n"

    def statements(self, depth: int, together: bool) -> None:
        """A list of statements. together: whether all threads of the block come here."""
        for _ in range(self._draw(st.integers(1, LARGEST))):
            self._statement(depth, together)

    def _statement(self, depth: int, together: bool) -> None:
        simple: list[Callable[[], None]] = [self._compute, self._compute, self._guarded]
        nested: list[Callable[[int], None]] = [self._branch, self._branch, self._loop, self._table, self._entries,
                                               self._overlapping]  # fmt: skip
        common: list[Callable[[int], None]] = []
        if self._kernel:
            simple.append(self._count)
            if not self._loops and not self._for_machine_code:
                simple.append(self._locked)
        if self._masked:
            simple.append(self._vote)
            if not self._leaves:
                simple.append(self._shuffle)
        if self._leaves:
            simple.append(self._leave)
        if together:
            simple += [self._exchange, self._reduce]
            common = [self._loop_together, self._barriers]
        if self._names and not self._loops and self._calls < CALLS:
            simple += [self._call] if self._for_machine_code else [self._call, self._call_by_address]
        if not depth:
            self._draw(st.sampled_from(simple))()
            return
        chosen = self._draw(st.sampled_from([*simple, *nested, *common]))
        if chosen in simple:
            chosen()  # type: ignore[call-arg]
        else:
            chosen(depth - 1)  # type: ignore[call-arg]

    def _branch(self, depth: int) -> None:
        """if, with or without else."""
        found, mask, other, end = self._condition(), self._new("s"), self._new("L"), self._new("L")
        self._split(found, mask)
        self._write(f"@!{found} bra {other};")
        self.statements(depth, together=False)
        if self._draw(st.booleans()):
            self._write(f"bra {end};")
            self._lines.append(f"{other}:")
            self.statements(depth, together=False)
        else:
            self._lines.append(f"{other}:")
        self._lines.append(f"{end}:")
        self._write(f"mov.u32 %m, {mask};")

    def _loop(self, depth: int) -> None:
        """As often as a thread's register says, with break and continue."""
        count, mask, own = self._new("c"), self._new("s"), self._new("s")
        head, end, goes = self._new("L"), self._new("L"), self._new("q")
        self._loops += 1
        self._write(f"and.b32 {count}, {self._register()}, 3;", f"mov.u32 {mask}, %m;")
        self._lines.append(f"{head}:")
        self._write(f"setp.ne.u32 {goes}, {count}, 0;")
        self._ballot("%m", goes, "%m")
        self._write(f"@!{goes} bra {end};", f"sub.u32 {count}, {count}, 1;", f"mov.u32 {own}, %m;")
        self.statements(depth, together=False)
        if self._draw(st.booleans()):
            found, stays = self._condition(), self._new("q")
            self._write(f"not.pred {stays}, {found};")
            self._ballot("%m", stays, "%m")
            self._write(f"@{found} bra {end};", f"mov.u32 {own}, %m;")
            self.statements(depth, together=False)
        if self._draw(st.booleans()):
            found, stays = self._condition(), self._new("q")
            self._write(f"not.pred {stays}, {found};")
            self._ballot("%m", stays, "%m")
            self._write(f"@{found} mov.u32 %m, {own};", f"@{found} bra {head};")
            self.statements(depth, together=False)
        self._write(f"mov.u32 %m, {own};", f"bra {head};")
        self._lines.append(f"{end}:")
        self._write(f"mov.u32 %m, {mask};")
        self._loops -= 1

    def _table(self, depth: int) -> None:
        """switch, some cases of which fall through."""
        count = self._draw(st.integers(2, 4))
        labels, end = [self._new("L") for _ in range(count)], self._new("L")
        self._write(f"rem.u32 %t0, {self._register()}, {count};")
        self._lines.append(f"  ts{end}: .branchtargets {', '.join(labels)};")
        self._write(f"brx.idx %t0, ts{end};")
        with self._unmasked():
            for label in labels:
                self._lines.append(f"{label}:")
                self.statements(max(0, depth - 1), together=False)
                if self._draw(st.booleans()):
                    self._write(f"bra {end};")
        self._lines.append(f"{end}:")

    def _entries(self, depth: int) -> None:
        """A loop that some threads enter in its middle."""
        count, head, middle, goes = self._new("c"), self._new("L"), self._new("L"), self._new("q")
        found = self._condition()
        self._loops += 1
        self._write(f"and.b32 {count}, {self._register()}, 3;", f"@{found} bra {middle};")
        with self._unmasked():
            self._lines.append(f"{head}:")
            self.statements(max(0, depth - 1), together=False)
            self._lines.append(f"{middle}:")
            self.statements(max(0, depth - 1), together=False)
        self._write(f"setp.ne.u32 {goes}, {count}, 0;", f"@{goes} sub.u32 {count}, {count}, 1;", f"@{goes} bra {head};")
        self._loops -= 1

    def _overlapping(self, depth: int) -> None:
        """Jumps ahead that are no ifs within each other."""
        first, second = self._new("L"), self._new("L")
        with self._unmasked():
            self._write(f"@{self._condition()} bra {first};")
            self.statements(max(0, depth - 1), together=False)
            self._write(f"@{self._condition()} bra {second};")
            self.statements(max(0, depth - 1), together=False)
            self._lines.append(f"{first}:")
            self.statements(max(0, depth - 1), together=False)
            self._lines.append(f"{second}:")

    def _loop_together(self, depth: int) -> None:
        """A loop that all threads of the block go through as often."""
        count, head, goes = self._new("c"), self._new("L"), self._new("q")
        self._loops += 1
        self._write(f"mov.u32 {count}, {self._draw(st.integers(1, 3))};")
        self._lines.append(f"{head}:")
        self.statements(depth, together=True)
        self._write(f"sub.u32 {count}, {count}, 1;", f"setp.ne.u32 {goes}, {count}, 0;", f"@{goes} bra {head};")
        self._loops -= 1

    def _barriers(self, depth: int) -> None:
        """A barrier at which some threads wait on one way, and some on another."""
        found, mask, other, end = self._condition(), self._new("s"), self._new("L"), self._new("L")
        self._split(found, mask)
        self._write(f"@!{found} bra {other};")
        for label in (other, end):
            self.statements(depth, together=False)
            self._write("barrier.sync 0;", f"bra {end};")
            self._lines.append(f"{label}:")
        self._write(f"mov.u32 %m, {mask};")
