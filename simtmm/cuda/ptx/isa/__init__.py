"""What each instruction of PTX is: a row for each opcode (ROWS), which all that reads PTX goes by.

FORMS has the forms of an opcode, parted by `;`: modifiers, then `:`, then operands. Modifiers stand in any order, types
in theirs:

    rn         a modifier or a type that must be there
    hi/lo      one of these
    ftz?       may be there
    $rounding  one of a set, of SETS
    ~          others, which are looked at where the instruction is translated

An operand is a letter, with what type it has: the first of the instruction where nothing is said.

    d  a destination: a register, or the sink _
    p  the same, or two of them, d|p: the second a predicate
    D  a destination, or several in braces
    V  several in braces
    P  several in braces, of a matrix: what is narrower than 32 bits is packed
    T  destinations in braces, and a predicate that tells whether there is a texel: {d}|p
    s  a value: a register, a number, the address of a symbol, a predicate (negated, too), or _ for none
    r  a value of a register alone
    S  a value, or several in braces
    v  a value of which a part may be named (video instructions): %r1.b0
    w  the same, or a destination, but no number
    n  a number
    m  a place in memory, in brackets
    t  the name of a label, a table or a function
    *  operands of any kind, from here on

    s1         of the instruction's second type
    s=u32      of this type, whatever the instruction's
    d=wide     twice as wide as the instruction's type
    D~         the type's bits, in a register that may be wider

What ptxas takes and refuses is the judge of the forms (tests/cuda/ptx/test_isa.py); forms.py reads them.
"""

from dataclasses import dataclass
from typing import Literal

from simtmm.cuda.ptx.isa.arithmetic import ARITHMETIC
from simtmm.cuda.ptx.isa.matrices import tensor_maps, wgmma
from simtmm.cuda.ptx.isa.memory import MEMORY

SETS: dict[str, str] = {
    "rounding": "rn/rz/rm/rp",
    "integral": "rni/rzi/rmi/rpi",
    "integers": "u16/u32/u64/s16/s32/s64",
    "unsigned": "u16/u32/u64",
    "signed": "s16/s32/s64",
    "words": "u32/u64/s32/s64",
    "bits": "b16/b32/b64",
    "equal": "eq/ne",
    "compare": "eq/ne/lt/le/gt/ge",
    "order": "eq/ne/lt/le/gt/ge/lo/ls/hi/hs",
    "any_order": "eq/ne/lt/le/gt/ge/equ/neu/ltu/leu/gtu/geu/num/nan",
    "combine": "and/or/xor",
    "space": "global/shared/shared::cta/shared::cluster/local/const/param/param::entry/param::func",
    "store_space": "global/shared/shared::cta/shared::cluster/local/param/param::func",
    "shared": "shared/shared::cta/shared::cluster",
    "atomic_space": "global/shared/shared::cta/shared::cluster",
    "scope": "cta/cluster/gpu/sys",
    "vector": "v2/v4/v8",
    "element": "b8/b16/b32/b64/b128/u8/u16/u32/u64/s8/s16/s32/s64/f32/f64",
    "cache": "ca/cg/cs/lu/cv",
    "write_cache": "wb/cg/cs/wt",
    "evict": "L1::evict_normal/L1::evict_unchanged/L1::evict_first/L1::evict_last/L1::no_allocate",
    "evict_l2": "L2::evict_normal/L2::evict_first/L2::evict_last",
    "shape": "m8n8k4/m16n8k4/m16n8k8/m16n8k16/m16n8k32/m16n8k64/m8n8k16/m8n8k32/m8n8k128/m16n8k128/m16n8k256",
    "factor": "f16/bf16/tf32/f32/f64/e4m3/e5m2/e2m1/e2m3/e3m2/s8/u8/s4/u4/s32",
    "fetch": "L2::64B/L2::128B/L2::256B",
}

FORMS: dict[str, str] = {
    **ARITHMETIC,
    **MEMORY,
    # Matrices
    "mma": "sync aligned $shape row col satfinite? $factor $factor $factor $factor : P P1 P2 P3; "
    "sync aligned $shape row col and/xor popc s32 b1 b1 s32 : P P1 P2 P3; sp/sp::ordered_metadata sync aligned "
    "$shape row col satfinite? $factor $factor $factor $factor : P P1 P2 P3 s=b32 n; block_scale ~ : *",
    "wmma": "load ~ : V m|V m s=u32; store ~ : m V|m V s=u32; mma sync aligned ~ : V V V V",
    "ldmatrix": "sync aligned m8n8 x1/x2/x4 trans? $shared? b16 : V=b32 m",
    "stmatrix": "sync aligned m8n8 x1/x2/x4 trans? $shared? b16 : m V=b32",
    "wgmma": wgmma(),
    "tensormap": tensor_maps(),
    "movmatrix": "sync aligned m8n8 trans b16 : d=b32 r=b32",
    # Textures and surfaces
    "tex": "~ : T m *",
    "tld4": "~ : T m *",
    "txq": "~ : d m|d m s",
    "suld": "~ : D~ m",
    "sust": "~ : m S~",
    "suq": "~ : d m",
    # Control
    "bra": "uni? : t",
    "brx": "idx uni? : s=u32 t",
    "call": "~ : *",
    "ret": "uni? : ",
    "exit": " : ",
    "leave_convergence": "~ : d *",
    # Known, and run nowhere here
    **dict.fromkeys(("alloca", "stacksave", "istypep"), "~ : d *"),
    **dict.fromkeys(("stackrestore", "sured"), "~ : *"),
    "multimem": "ld_reduce ~ : D m; ~ : *",
    **dict.fromkeys(("tcgen05", "clusterlaunchcontrol"), "~ : *"),
}
Memory = Literal["", "reads", "writes", "updates"]
Work = Literal["", "none", "control", "shared", "tensor", "special", "multiply"]


@dataclass(frozen=True)
class Row:
    """What an instruction is.

    forms: see above. memory: what it does to memory, "" for nothing. is_of_texture: whether it goes by a handle of a
    texture or a surface. work: its class of work whatever its types, one of trace.schema.WORK_CLASSES; "none" for what
    machine code has no instruction for, "" where its types decide; what is special is not so for f64. is_barrier:
    whether threads of a block wait there. ends_block: whether a block of code ends behind it.
    """

    forms: str
    memory: Memory = ""
    is_of_texture: bool = False
    work: Work = ""
    is_barrier: bool = False
    ends_block: bool = False


_MEMORY: dict[Memory, str] = {
    "reads": "ld ldu tex tld4 suld ldmatrix wgmma prefetch prefetchu mbarrier",
    "writes": "st sust stmatrix",
    "updates": "atom red cp sured multimem wmma tensormap",
}
_WORK: dict[Work, str] = {
    # Operands or names in machine code: constants of the launch, pointers that change space
    "none": "cvta isspacep",
    "control": "bra brx call ret exit trap brkpt nanosleep bar barrier membar fence griddepcontrol pmevent setmaxnreg "
    "mbarrier",
    "shared": "shfl ldmatrix stmatrix movmatrix",
    "tensor": "mma wmma wgmma",
    "special": "ex2 lg2 sin cos tanh rsqrt rcp sqrt",  # but for f64
    "multiply": "mul mad madc mul24 mad24 dp2a dp4a",  # but of floating point
}
_TEXTURES = frozenset(("tex", "tld4", "txq", "suld", "sust", "suq", "sured"))
_BARRIERS = frozenset(("bar", "barrier"))
_ENDING = frozenset(("bra", "brx", "ret", "exit", "trap", "call"))
_memory_of = {opcode: effect for effect, opcodes in _MEMORY.items() for opcode in opcodes.split()}
_work_of = {opcode: work for work, opcodes in _WORK.items() for opcode in opcodes.split()}

ROWS: dict[str, Row] = {
    opcode: Row(
        forms,
        _memory_of.get(opcode, ""),
        opcode in _TEXTURES,
        _work_of.get(opcode, ""),
        opcode in _BARRIERS,
        opcode in _ENDING,
    )
    for opcode, forms in FORMS.items()
}
UNKNOWN = Row("")


def row_of(opcode: str) -> Row:
    """The row of an opcode; of one that is not known, one that says nothing."""
    return ROWS.get(opcode, UNKNOWN)
