"""The types of drawn kernels."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Type:
    """A type by the name that common.h has for it. kind: "u", "i" or "f"."""

    name: str

    @property
    def kind(self) -> str:
        return self.name[0]

    @property
    def bits(self) -> int:
        return int(self.name[1:])

    @property
    def is_integer(self) -> bool:
        return self.kind != "f"

    @property
    def computing(self) -> str:
        """An unsigned type in which its sums and products overflow without harm: of at least an int's width."""
        return f"u{max(32, self.bits)}"


U8, I8, U16, I16, U32, I32, U64, I64, U128, I128, F16, F32, F64 = map(
    Type, ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "u128", "i128", "f16", "f32", "f64"]
)
SMALL = (U8, I8, U16, I16)
WORDS = (U32, I32, U64, I64)


@dataclass(frozen=True)
class Variable:
    """Something that has a value: its text, in which {} is an index. length: of an array, a power of two."""

    text: str
    type: Type
    writable: bool = True
    length: int = 0


@dataclass(frozen=True)
class Function:
    """Something that is called: its text, in which each {} is an argument."""

    text: str
    taken: tuple[Type, ...]
    type: Type
