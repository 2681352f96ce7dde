"""Statements of threads that are somewhere together: barriers, shared memory, functions of a warp, atomics."""

from tests.cuda.whole.statements import Statements
from tests.cuda.whole.types import F32, F64, I32, I64, U32, U64, Type, Variable

_SHUFFLED = (U32, U32, I32, I32, U64, I64, F32, F64)
# Where in `sums` and `totals` (of 32 bits) and `wide` (of 64) each lies: an atomic operation, and how it is cast. At a
# place there is one operation, as several would give what their order makes.
_WORDS = (("atomicAdd", "u32"), ("atomicMin", "u32"), ("atomicMax", "u32"), ("atomicAnd", "u32"), ("atomicOr", "u32"),
          ("atomicXor", "u32"), ("atomicMin", "i32"), ("atomicMax", "i32"))  # fmt: skip
_WIDE = (("atomicAdd", "u64"), ("atomicMin", "u64"), ("atomicMax", "u64"), ("atomicAnd", "u64"), ("atomicOr", "u64"),
         ("atomicXor", "u64"), ("atomicMin", "i64"), ("atomicMax", "i64"))  # fmt: skip
FIRST = (0, -1, 0, -1, 0, 0, 0, 0)  # what each holds at first


class Together(Statements):
    """Draws them, too."""

    def _makers(self, nested: int):
        makers = super()._makers(nested)
        if self.is_pure:
            return makers
        makers += [self._atomic] if "atomics" in self.features else []
        makers += [self._own_atomic] if "own_atomics" in self.features else []
        if self.mask is not None and "warp" in self.features:
            makers += [self._shuffle, self._shuffle, self._vote, self._reduce]
            makers += [self._part, self._part, self._while_any] if nested > 0 else []
            makers += [self._call_together] if self.warp_functions else []
        if self.all_here and nested > 0:
            makers += [self._if_block]
        if self.all_here and "shared" in self.features:
            makers += [self._exchange, self._exchange, self._exchange, self._count]
        if self.all_here and "exit" in self.features:
            makers += [self._exit]
        if self.all_here and "atomics" in self.features:
            makers += [self._sums]
        return makers

    def _call_together(self, _) -> None:
        name, type_ = self.random.choice(self.warp_functions)
        self.declare(type_, f"{name}({self.mask}, {self.of(type_, 2)})")

    def _while_any(self, nested: int) -> None:
        """Lanes go round as long as one of them wants to."""
        name, most = self.name("w"), self.random.randint(1, 4)
        with self.block(self.mask, False, False) as body:
            self.statements(nested - 1)
        wants = f"__any_sync({self.mask}, {self.condition(1)})"
        self.nest((f"for (u32 {name} = 0; {name} < {most} && {wants}; ++{name}) {{", body))

    def _if_block(self, nested: int) -> None:
        """All threads of a block go the same way."""
        condition = self.random.choice(("blockIdx.x % 2 == 0", "blockIdx.x == 1", "size > 40", "in[blockIdx.x] & 1"))
        blocks = []
        for head in (f"if ({condition}) {{", "} else {")[: self.random.randint(1, 2)]:
            with self.block(self.mask, True, False) as body:
                self.statements(nested - 1)
            blocks.append((head, body))
        self.nest(*blocks)

    def _some(self, types) -> Type:
        known = [each for each in types if each in self.types]
        return self.random.choice(known)

    def _shuffle(self, _) -> None:
        type_ = self._some(_SHUFFLED)
        value, width = self.of(type_, 2), self.random.choice((32, 32, 16, 8, 4))
        kind = self.random.randrange(4)
        if kind == 0:
            text = f"from_lane({self.mask}, {value}, {self.of(U32, 1)})"
        elif kind == 1:
            text = f"from_below({self.mask}, {value}, {self.random.randint(1, 31)}, {width})"
        elif kind == 2:
            text = f"from_above({self.mask}, {value}, {self.random.randint(1, 31)}, {width})"
        else:
            text = f"across({self.mask}, {value}, {self.random.randint(1, width - 1)}, {width})"
        self.declare(type_, text)

    def _vote(self, _) -> None:
        condition = self.condition()
        text = self.random.choice((
            f"__ballot_sync({self.mask}, {condition})",
            f"(u32)__any_sync({self.mask}, {condition})",
            f"(u32)__all_sync({self.mask}, {condition})",
            f"__match_any_sync({self.mask}, {self.of(U32, 2)} % 5)",
            f"__match_any_sync({self.mask}, (u64){self.of(U64, 2)} % 3)",
        ))  # fmt: skip
        self.declare(U32, text)

    def _reduce(self, _) -> None:
        kind = self.random.choice(("add", "min", "max", "and", "or", "xor"))
        type_ = self.random.choice((U32, I32)) if kind in ("add", "min", "max") else U32
        self.declare(type_, f"reduced_{kind}<{type_.name}>({self.mask}, {self.of(type_, 2)})")

    def _part(self, nested: int) -> None:
        """Lanes of a warp part, know who is with them, and meet again."""
        if self.result is not None:
            return self._vote(0)
        condition, name = self.condition(), self.name("m")
        self.body.line(f"const bool c{name} = {condition};", f"const u32 {name} = __ballot_sync({self.mask}, c{name});")
        blocks = []
        for head, mask in ((f"if (c{name}) {{", name), ("} else {", f"({self.mask} & ~{name})"))[
            : 1 + self.chance(0.5)
        ]:
            with self.block(mask, False, False) as body:
                self.statements(nested - 1)
            blocks.append((head, body))
        self.nest(*blocks)
        return self.body.line(f"__syncwarp({self.mask});") if self.chance(0.5) else None

    def _exchange(self, _) -> None:
        """Each writes its own cell, and reads others' once all have."""
        type_ = self._some((U32, I32, F32, U64))
        name = self.name("v")
        cells = f"cells_{type_.name}"
        other = self.random.choice((
            f"(tid + {self.random.randint(1, 40)}) % size", "size - 1 - tid", f"({self.of(U32, 2)}) % size",
            f"(tid ^ {self.random.choice((1, 2, 4, 8, 16))}) % size",
        ))  # fmt: skip
        self.body.line(
            f"{cells}[tid] = {self.of(type_)};", "__syncthreads();",
            f"{type_.name} {name} = {cells}[{other}];", "__syncthreads();",
        )  # fmt: skip
        self.variables.append(Variable(name, type_))

    def _count(self, _) -> None:
        kind = self.random.choice(("count", "or", "and"))
        self.declare(I32, f"__syncthreads_{kind}({self.condition()}){' != 0' if kind != 'count' else ''}")

    def _exit(self, _) -> None:
        """Some threads end here; the others of their warp go on."""
        name = self.name("m")
        self.body.line(
            f"const bool c{name} = {self.condition()} && {self.condition()};",
            f"const u32 {name} = __ballot_sync({self.mask}, !c{name});",
            f"if (c{name}) LEAVE", f"{self.mask} = {name};",
        )  # fmt: skip

    def _atomic(self, _) -> None:
        place, wide = self.random.randrange(8), self.chance(0.3)
        called, type_ = (_WIDE if wide else _WORDS)[place]
        where = self.random.choice(("sums", "totals"))
        name = f"wide_{where}" if wide else where
        pointer = f"({type_}*)&{name}[{place}]" if type_[0] == "i" else f"&{name}[{place}]"
        self.body.line(f"{called}({pointer}, {self.of(Type(type_), 2)});")

    def _own_atomic(self, _) -> None:
        """At a cell that nobody else writes, so that what was there is known."""
        type_ = self.random.choice((U32, U32, U64))
        place = self.random.choice((f"cells_{type_.name}[tid]", "mine[0]" if type_ == U64 else "cells_u32[tid]"))
        called = self.random.choice(("Add", "Min", "Max", "And", "Or", "Xor", "Exch", "CAS", "Inc", "Sub"))
        if type_ == U64 and called in ("Inc", "Sub"):
            called = "Add"
        compared = f"{place} + ({self.of(U32, 1)}) % 2, " if called == "CAS" else ""
        self.declare(type_, f"atomic{called}(&{place}, {compared}{self.of(type_, 2)})")

    def _sums(self, _) -> None:
        name, place = self.name("v"), self.random.randrange(8)
        self.body.line("__syncthreads();", f"u32 {name} = sums[{place}] + (u32)wide_sums[{place}];", "__syncthreads();")
        self.variables.append(Variable(name, U32))
