"""What drawn kernels are written with: registers, conditions, masks, and statements without others in them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import strategies as st

REGISTERS = 4
CALLS = 2  # of a function
OPERATIONS = ("add.u32", "sub.u32", "xor.b32", "mul.lo.u32", "min.u32", "max.s32", "and.b32")


class Writer:
    """Writes statements of a function.

    draw: of Hypothesis. kernel: whether it is the kernel. leaves: whether threads may leave early. names: of the
    functions that it may call.
    """

    def __init__(
        self, draw: Callable[..., Any], kernel: bool, leaves: bool, names: list[str], for_machine_code: bool = False
    ) -> None:
        self._for_machine_code = for_machine_code
        self._draw, self._kernel, self._leaves, self._names = draw, kernel, leaves, names
        self._masked = kernel or not leaves  # lanes that return early are in no mask of their callers
        self._loops = self._calls = 0
        self._made: dict[str, int] = {}
        self._lines: list[str] = []

    def text(self, begin: str, end: str) -> str:
        """The declarations and all statements."""
        made = {letter: max(1, self._made.get(letter, 0)) for letter in "qcs"}
        declared = (
            f"  .reg .b32 %r<{REGISTERS}>, %m, %t<3>, %c<{made['c']}>, %s<{made['s']}>, %depth, %i, %lane, %sh;\n"
            f"  .reg .b64 %p, %a<2>;\n  .reg .pred %q<{made['q']}>, %z;\n"
        )
        return f"{declared}{begin}  mov.u32 %lane, %laneid;\n" + "\n".join(self._lines) + f"\n{end}  ret;\n"

    # What writing needs.

    def _write(self, *lines: str) -> None:
        self._lines += [f"  {line}" for line in lines]

    def _new(self, letter: str) -> str:
        """A register of its own: q predicates, c counters, s masks; or a label: L."""
        number = self._made.get(letter, 0)
        self._made[letter] = number + 1
        return f"L{number}" if letter == "L" else f"%{letter}{number}"

    def _register(self) -> str:
        return f"%r{self._draw(st.integers(0, REGISTERS - 1))}"

    def _condition(self) -> str:
        """A predicate that depends on the thread."""
        found = self._new("q")
        kind = self._draw(st.sampled_from(["bits", "lane", "less"]))
        if kind == "bits":
            mask, how = self._draw(st.sampled_from([1, 2, 3, 6])), self._draw(st.sampled_from(["eq", "ne"]))
            self._write(f"and.b32 %t0, {self._register()}, {mask};", f"setp.{how}.u32 {found}, %t0, 0;")
        elif kind == "lane":
            self._write(f"setp.lt.u32 {found}, %lane, {self._draw(st.integers(0, 32))};")
        else:
            self._write(f"setp.lt.s32 {found}, {self._register()}, {self._register()};")
        return found

    def _ballot(self, to: str, condition: str, mask: str) -> None:
        if self._masked:
            self._write(f"vote.sync.ballot.b32 {to}, {condition}, {mask};")

    @contextmanager
    def _unmasked(self) -> Iterator[None]:
        """Where nobody knows who else is there."""
        before, self._masked = self._masked, False
        calls, self._calls = self._calls, CALLS
        yield
        self._masked, self._calls = before, calls

    # Statements without statements in them.

    def _compute(self) -> None:
        self._write(f"{self._draw(st.sampled_from(OPERATIONS))} {self._register()}, {self._register()}, "
                    f"{self._register()};")  # fmt: skip

    def _guarded(self) -> None:
        found = self._condition()
        self._write(f"@{self._draw(st.sampled_from(['', '!']))}{found} add.u32 {self._register()}, "
                    f"{self._register()}, 77;")  # fmt: skip

    def _count(self) -> None:
        self._write(f"red.shared.add.u32 [total], {self._register()};")

    def _locked(self) -> None:
        """Threads one after another, each when it has the lock."""
        again, found = self._new("L"), self._new("q")
        self._lines.append(f"{again}:")
        self._write(
            "atom.shared.cas.b32 %t0, [lock], 0, 1;", f"setp.ne.u32 {found}, %t0, 0;", f"@{found} bra {again};",
            "ld.volatile.shared.u32 %t0, [held];", f"add.u32 %t0, %t0, {self._register()};",
            "st.volatile.shared.u32 [held], %t0;", "membar.cta;", "st.volatile.shared.u32 [lock], 0;",
        )  # fmt: skip

    def _vote(self) -> None:
        found = self._condition()
        self._ballot("%t1", found, "%m")
        self._write(f"xor.b32 {self._register()}, {self._register()}, %t1;")

    def _shuffle(self) -> None:
        """A register of another lane, if that is there."""
        distance, to = self._draw(st.sampled_from([1, 2, 5, 16])), self._register()
        self._write(
            f"shfl.sync.bfly.b32 %t1, {self._register()}, {distance}, 31, %m;", f"xor.b32 %t2, %lane, {distance};",
            "shr.u32 %t2, %m, %t2;", "and.b32 %t2, %t2, 1;", "setp.ne.u32 %z, %t2, 0;", f"@%z add.u32 {to}, {to}, %t1;",
        )  # fmt: skip

    def _leave(self) -> None:
        found = self._condition()
        self._write(f"@{found} {'exit' if self._kernel else self._draw(st.sampled_from(['ret', 'exit']))};")

    def _exchange(self) -> None:
        """What another thread of the block put into shared memory."""
        by, to = self._draw(st.sampled_from([1, 31, 33, 40])), self._register()
        self._write(
            "bar.sync 0;", "mov.u32 %sh, slots;", "mad.lo.u32 %t0, %i, 4, %sh;",
            f"st.shared.u32 [%t0], {self._register()};", "bar.sync 0;", "mov.u32 %t1, %ntid.x;",
            f"add.u32 %t0, %i, {by};", "rem.u32 %t0, %t0, %t1;", "mad.lo.u32 %t0, %t0, 4, %sh;",
            "ld.shared.u32 %t0, [%t0];", f"xor.b32 {to}, {to}, %t0;",
        )  # fmt: skip

    def _reduce(self) -> None:
        """What holds for all threads of the block."""
        found, to, number = self._condition(), self._register(), self._draw(st.integers(0, 2))
        kind = self._draw(st.sampled_from(["popc", "and", "or"]))
        if kind == "popc":
            self._write(f"bar.red.popc.u32 %t0, {number}, {found};", f"add.u32 {to}, {to}, %t0;")
        else:
            self._write(f"bar.red.{kind}.pred %z, {number}, {found};", f"@%z add.u32 {to}, {to}, 3;")

    def _call(self) -> None:
        self._called(self._draw(st.sampled_from(self._names)), "")

    def _call_by_address(self) -> None:
        """Each thread calls a function of two."""
        found, mask = self._condition(), self._new("s")
        self._split(found, mask)
        for number in (0, 1):
            self._write(f"mov.u64 %a{number}, {self._draw(st.sampled_from(self._names))};")
        self._write(f"selp.b64 %p, %a0, %a1, {found};")
        self._called("%p", ", proto")
        self._write(f"mov.u32 %m, {mask};")

    def _split(self, condition: str, mask: str) -> None:
        """Those for whom a condition holds have their mask, the others theirs; the common one is kept."""
        self._write(f"mov.u32 {mask}, %m;")
        self._ballot("%m", condition, mask)
        self._write(f"@!{condition} not.b32 %m, %m;", f"and.b32 %m, %m, {mask};")

    def _called(self, target: str, prototype: str) -> None:
        self._calls += 1
        skip = self._new("L")
        self._write("setp.eq.u32 %z, %depth, 0;", f"@%z bra {skip};", "sub.u32 %t0, %depth, 1;", "{")
        if prototype:
            self._lines.append("  proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, "
                               ".param .b32 _, .param .b32 _);")  # fmt: skip
        self._write(*(f".param .b32 {name};" for name in ("pa", "pb", "pm", "pd", "pr")))
        self._write(f"st.param.b32 [pa], {self._register()};", f"st.param.b32 [pb], {self._register()};",
                    "st.param.b32 [pm], %m;", "st.param.b32 [pd], %t0;", f"call (pr), {target}, (pa, pb, pm, pd)"
                    f"{prototype};", f"ld.param.b32 {self._register()}, [pr];", "}")  # fmt: skip
        self._lines.append(f"{skip}:")
