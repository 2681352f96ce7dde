"""Constant bank 0: what the launch puts there, and the driver, at offsets that ptxas has had since each architecture.

Read off what ptxas 13.5 makes of kernels that ask for each of them, for each architecture that it knows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simtmm.cuda.execution.layout import LOCAL_WINDOW, RESERVED_FOR_GROUPS, SHARED_WINDOW
from simtmm.cuda.ptx.syntax import Address, Immediate, Operand, Register, Symbol, Variable
from simtmm.cuda.sass.environment import ENVIRONMENT

if TYPE_CHECKING:
    from simtmm.cuda.sass.writing import Writing

SHARED_HEAD = 0x400  # bytes of shared memory that are the driver's,
HEAD_FROM = 90  # from this architecture on
HOLE = 0x7C << 40  # where nothing lies


@dataclass(frozen=True)
class _Places:
    """Offsets in bank 0.

    descriptor: how global memory is accessed, of which nothing is known or needed. hole: where 24 bytes begin that are
    no global memory to isspacep, which no variable of a program is. processors: multiprocessors. number: of the launch.
    dynamic: bytes of dynamic shared memory. cluster: 1 where the launch gives a cluster's size. blocks: of a cluster,
    along each axis; part: what a block's place along y and z is multiplied by for its cluster's; all_blocks: of a
    cluster; clusters: along each axis. reserved: where the driver's shared memory ends, and behind that where its part
    for cooperative groups begins. constants: where the address, of 64 bits, stands by which parameters are
    reached. environment: where registers of it begin, and from which one on so many.
    """

    parameters: int
    block: int
    grid: int
    stack: int
    local_window: int
    shared_window: int | None
    descriptor: int | None
    hole: int
    processors: int
    number: int
    dynamic: int | None
    cluster: int | None = None
    constants: int | None = None
    blocks: int | None = None
    part: int | None = None
    all_blocks: int | None = None
    clusters: int | None = None
    reserved: int | None = None
    environment: tuple[tuple[int, int, int], ...] = ()


_FIRST = _Places(
    0x160, 0x0, 0xC, 0x28, 0x20, 0x18, 0x118, 0x50, 0x10C, 0x30, 0x2C, environment=((0x88, 0, 32),)
)  # fmt: skip
_HOPPER = _Places(
    0x210, 0x0, 0xC, 0x28, 0x20, None, 0x208, 0xD0, 0x10C, 0x30, 0x2C, 0x140, 0x198,
    blocks=0x144, part=0x150, all_blocks=0x188, clusters=0x15C, reserved=0x68,
    environment=((0x40, 0, 32),),
)  # fmt: skip
_BLACKWELL = _Places(
    0x380, 0x360, 0x370, 0x37C, 0x2F8, None, 0x358, 0x120, 0x2D0, 0x140, None, 0x36C,
    environment=((ENVIRONMENT.start, 0, 16), (0xD0, 16, 16)),
)  # fmt: skip


class LaunchConstants:
    """What bank 0 of a kernel holds."""

    def __init__(self, architecture: int, stack_bytes: int, parameters: Sequence[Variable]) -> None:
        """architecture: compute capability times ten. stack_bytes: of a thread, of its local memory. parameters: those
        of the kernel.
        """
        self._places = places = _FIRST if architecture < 90 else _HOPPER if architecture < 100 else _BLACKWELL
        self._stack = stack_bytes
        self._parameters: list[tuple[int, int, int]] = []  # where each lies in the bank and in a launch, and its bytes
        end, packed = places.parameters, 0
        for each in parameters:
            end, packed = (-(-here // each.align) * each.align for here in (end, packed))
            self._parameters.append((end, packed, each.size))
            end, packed = end + each.size, packed + each.size
        self.parameter_bytes = -(-packed // 4) * 4

    def parameter_at(self, offset: int) -> int | None:
        """Where in a launch's parameters lies what stands at an offset; None for no parameter."""
        for start, packed, size in self._parameters:
            if start <= offset < start + -(-size // 4) * 4:
                return packed + offset - start
        return None

    def read(self, lifting: "Writing", offset: int) -> Operand:  # noqa: C901 - a case for each constant of a launch
        """The 32 bits at an offset. Raises SassError where it is not known what stands there."""
        places = self._places
        if (at := self.parameter_at(offset)) is not None:
            found = lifting.temporary("b32")
            lifting.do("ld.param.b32", found, Address(Symbol("parameters"), at))
            return found
        if (register := self._register_at(offset)) is not None:
            return register
        for axis in range(3):
            if (of_clusters := self._of_clusters(lifting, offset, axis)) is not None:
                return of_clusters
        if offset & ~7 == places.number:
            name = "shr.u64" if offset & 4 else "mov.b64"
            by = [Immediate(32)] if offset & 4 else []
            half = lifting.value(name, "b64", Register("%gridid"), *by)
            return lifting.value("cvt.u32.u64", "b32", half)
        if places.constants is not None and offset & ~7 == places.constants:
            whole = lifting.value("mov.b64", "b64", Symbol("parameters"))
            whole = lifting.value("cvta.param.u64", "b64", whole)
            whole = lifting.value("sub.s64", "b64", whole, Immediate(self._ahead(lifting)))
            if offset & 4:
                whole = lifting.value("shr.u64", "b64", whole, Immediate(32))
            return lifting.value("cvt.u32.u64", "b32", whole)
        numbers = {places.stack: self._stack}
        if places.reserved is not None:
            numbers |= {places.reserved: SHARED_HEAD, places.reserved + 4: RESERVED_FOR_GROUPS}
        if offset in numbers:
            return Immediate(numbers[offset])
        for window, start in (
            (places.local_window, LOCAL_WINDOW),
            (places.shared_window, SHARED_WINDOW),
            (places.hole, HOLE),
        ):
            if window is not None and offset & ~7 == window:
                return Immediate(start >> 32 if offset & 4 else start & 0xFFFFFFFF)
        if places.descriptor is not None and offset & ~7 == places.descriptor:
            return Immediate(0)
        raise lifting.refuse(f"reads c[0x0][{offset:#x}], which is not supported")

    def _register_at(self, offset: int) -> Register | None:
        """The special register of PTX that has what stands there; None for none."""
        places = self._places
        names = {
            places.all_blocks: "%cluster_nctarank",
            places.processors: "%nsmid",
            places.dynamic: "%dynamic_smem_size",
            places.cluster: "%is_explicit_cluster",
        }
        for axis in range(3):
            names[places.block + 4 * axis] = f"%ntid.{'xyz'[axis]}"
            names[places.grid + 4 * axis] = f"%nctaid.{'xyz'[axis]}"
        if (name := names.get(offset)) is not None:
            return Register(name)
        if places.reserved is not None and offset in (places.reserved, places.reserved + 4):
            return None  # the driver's, among those of the environment
        for start, first, count in places.environment:
            if start <= offset < start + 4 * count:
                return Register(f"%envreg{first + (offset - start) // 4}")
        return None

    def _of_clusters(self, lifting: "Writing", offset: int, axis: int) -> Operand | None:
        """What stands there of clusters along an axis; None for something else."""
        places, name = self._places, "xyz"[axis]
        if places.blocks is not None and offset == places.blocks + 4 * axis:
            return Register(f"%cluster_nctaid.{name}")
        if places.clusters is not None and offset == places.clusters + 4 * axis:
            return Register(f"%nclusterid.{name}")
        if axis and places.part is not None and offset == places.part + 4 * axis:
            # A real number: rounded up, so that its product with a place, cut off, is the cluster's.
            blocks = lifting.value("cvt.rn.f32.u32", "f32", Register(f"%cluster_nctaid.{name}"))
            return lifting.value("mov.b32", "b32", lifting.value("rcp.rp.f32", "f32", blocks))
        return None

    def index_base(self, lifting: "Writing", offset: int) -> int:
        """Likewise of an offset to which an index is added, which may lie before the parameter."""
        at = self.parameter_at(offset)
        if at is not None:
            return at
        if any(start - self._places.parameters != packed for start, packed, _ in self._parameters):
            raise lifting.refuse(f"reads c[0x0][{offset:#x}] by an index, which is not supported")
        return offset - self._places.parameters

    def _ahead(self, lifting: "Writing") -> int:
        """How much further on parameters lie in the bank than in a launch, from where both begin [bytes]: of those that
        an address may be wanted of, which are no numbers.
        """
        found = {start - self._places.parameters - packed for start, packed, size in self._parameters if size > 8}
        if len(found) > 1:
            raise lifting.refuse("is the address of parameters that lie apart in another way than in a launch")
        return next(iter(found), 0)
