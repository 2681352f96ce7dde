"""How a fragment of a matrix lies in memory: what each lane moves of it, piece by piece."""

from dataclasses import dataclass

from simtmm.cuda.execution.instructions.matrices.fragments import TILE_ROWS, Fragment
from simtmm.cuda.execution.layout import ALIGN, LANES
from simtmm.cuda.ptx.types import bits_of


@dataclass(frozen=True)
class Transfer:
    """A fragment and how its matrix lies in memory.

    along_rows: whether what a lane holds in a register lies behind one another. space: "global" or "shared".
    """

    fragment: Fragment
    along_rows: bool
    space: str
    loads: bool

    @property
    def name(self) -> str:
        """The name of the function that moves the fragment."""
        fragment = self.fragment
        order = "along" if self.along_rows else "across"
        shape = f"{fragment.rows}x{fragment.columns}.{fragment.kind}{'.sum' if fragment.accumulator else ''}"
        return f"wmma.{'load' if self.loads else 'store'}.{shape}.{order}.{self.space}"

    @property
    def element_bits(self) -> int:
        """The width of an element in memory [bits]; a tf32 takes as much as an f32."""
        return bits_of(self.fragment.kind)

    @property
    def piece_bytes(self) -> int:
        """How much a lane moves at once [bytes]."""
        fragment = self.fragment
        return fragment.register_bits // 8 if self.along_rows else max(1, self.element_bits // 8)

    @property
    def stride(self) -> int:
        """Bytes from piece to piece of all lanes: vectors lie at multiples of ALIGN."""
        return max(ALIGN, LANES * self.piece_bytes)

    @property
    def pieces(self) -> int:
        """The number of pieces in each register."""
        return 1 if self.along_rows else self.fragment.packed

    def places(self) -> list[list[tuple[int, int]]]:
        """The row and the column that each lane moves, for each piece of each register."""
        fragment = self.fragment
        found = []
        for register in range(fragment.registers):
            tile, second = divmod(register, fragment.registers_of_tile)
            column_tile, row_tile = divmod(tile, fragment.row_tiles)
            for piece in range(self.pieces):
                wide = fragment.packed * fragment.registers_of_tile
                found.append(
                    [
                        (
                            row_tile * TILE_ROWS + lane // 4,
                            column_tile * fragment.tile_columns + lane % 4 * wide + second + piece,
                        )
                        for lane in range(LANES)
                    ]
                )
        return found

    def segments(self) -> list[tuple[int, int]]:
        """A place for each lane: with as many bytes behind each, all of the matrix.

        The log has one address a lane for an instruction: not what each lane moves, but what the warp does.
        """
        fragment = self.fragment
        rows, columns = fragment.rows, fragment.columns
        each = rows * columns // LANES
        if self.along_rows:
            return [divmod(lane * each, columns) for lane in range(LANES)]
        return [divmod(lane * each, rows)[::-1] for lane in range(LANES)]
