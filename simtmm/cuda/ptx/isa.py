"""What each instruction of PTX is: a row an opcode (ROWS), which all that reads PTX goes by.

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
    s=u32      of this type, whatever the instruction's; s=any of any
    d=wide     twice as wide as the instruction's type
    D~         the type's bits, in a register that may be wider
    v=u32      of 32 bits

What ptxas takes and refuses is the judge of the forms (tests/cuda/ptx/test_isa.py); forms.py reads them.
"""

from dataclasses import dataclass
from typing import Literal

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

_FLOATS = "$rounding? ftz? sat? f32 : {0}; $rounding? f64 : {0}; rn? ftz? sat? f16/f16x2 : {0}; rn? bf16/bf16x2 : {0}"
_ADD = (
    "$integers : d s s; sat s32 : d s s; cc $words : d s s; "
    + _FLOATS.format("d s s")
    + "; $rounding? ftz? f32x2 : d s s"
)
_CARRY = "cc? $words : d s s"
_SIGN = "$signed : d s; ftz? f32 : d s; f64 : d s; ftz? f16/f16x2 : d s; bf16/bf16x2 : d s"
_EXTREME = (
    "u16/u32/u64/s16/s64/u16x2 : d s s; relu? s32/s16x2 : d s s; f64 : d s s; "
    "ftz? NaN? f32/f16/f16x2 : d s s; ftz? NaN? xorsign abs f32/f16/f16x2 : d s s; "
    "NaN? bf16/bf16x2 : d s s; NaN? xorsign abs bf16/bf16x2 : d s s; ftz? NaN? abs? f32 : d s s s"
)
_LOGIC = "$bits/pred : d s s"
_INVERSE = "$rounding/approx ftz? f32 : d s; $rounding f64 : d s"
_APPROXIMATE = "approx ftz? f32 : d s"
_PRODUCT = "hi/lo $integers : {0}; hi/lo cc $words : {0}; hi sat s32 : {0}"
_DOT = "u32/s32 u32/s32 : d=u32 s s1 s=u32"
_OF_PARTS = "u32/s32 u32/s32 u32/s32 sat/add? : w=u32 w=u32 w=u32 w=u32"
_VIDEO_TYPES = "u32/s32 u32/s32 u32/s32"


def _hinted(modifiers: str, operands: str, hinted: str = "") -> str:
    """A form, and the same with the policy of a cache behind its operands."""
    return f"{modifiers} : {operands}; {modifiers} L2::cache_hint : {hinted or operands + ' s=b64'}"


def _loads() -> str:
    of = "$vector? $element"
    return "; ".join(
        (
            _hinted(f"weak? $space? $cache? $evict? $evict_l2? $fetch? {of}", "D~ m"),
            _hinted(f"weak? global $cache? nc $evict? $evict_l2? $fetch? {of}", "D~ m"),
            _hinted(f"relaxed/acquire $scope $space? $evict? $evict_l2? $fetch? {of}", "D~ m"),
            f"volatile $space? $fetch? {of} : D~ m",
            f"mmio relaxed sys global? {of} : D~ m",
        )
    )


def _stores() -> str:
    of = "$vector? $element"
    return "; ".join(
        (
            _hinted(f"weak? $store_space? $write_cache? $evict? $evict_l2? {of}", "m S~"),
            _hinted(f"relaxed/release $scope $store_space? $evict? $evict_l2? {of}", "m S~"),
            f"volatile $store_space? {of} : m S~",
            f"mmio relaxed sys global? {of} : m S~",
            # What tells an mbarrier of another block of the cluster
            "async weak? mbarrier::complete_tx::bytes shared::cluster? $vector? $element : m S m",
            "bulk ~ : m s s",
        )
    )


def _atomics(destination: str) -> str:
    """The forms of atom, and without a destination of red."""
    order = f"relaxed/release{'/acquire/acq_rel' if destination else ''}? $scope? $atomic_space?"
    found = [
        _hinted(f"{order} {operation}", f"{destination}m S")
        for operation in (
            "and/or/xor b32/b64",
            "add u32/s32/u64/f32/f64",
            "min/max u32/s32/u64/s64",
            "inc/dec u32",
            "add noftz f16/f16x2/bf16/bf16x2",
            "add $vector f32",
            "add/min/max noftz $vector f16/f16x2/bf16/bf16x2",
        )
    ]
    if destination:
        found.append(_hinted(f"{order} exch b32/b64/b128", "D m S"))
        found.append(_hinted(f"{order} cas b16/b32/b64/b128", "D m S S"))
    return "; ".join(found)


def _barriers(cta: str, aligned: str) -> str:
    return "; ".join(
        (
            f"{cta}sync {aligned}: s=u32|s=u32 s=u32",
            f"{cta}arrive {aligned}: s=u32 s=u32",
            f"{cta}red popc {aligned}u32 : d s=u32 s=pred|d s=u32 s=u32 s=pred",
            f"{cta}red and/or {aligned}pred : d s=u32 s|d s=u32 s=u32 s",
            "warp sync : s=u32",
            "cluster arrive release/relaxed? aligned? : ",
            "cluster wait acquire? aligned? : ",
        )
    )


_WAITING = "acquire/relaxed? cta/cluster? $shared? b64"
_ARRIVING = "release/relaxed? cta/cluster? $shared? b64"
_MBARRIER = "; ".join(
    (
        "init $shared? b64 : m s=u32",
        "inval $shared? b64 : m",
        "expect_tx/complete_tx relaxed? cta/cluster? $shared? b64 : m s=u32",
        f"arrive/arrive_drop {_ARRIVING} : d m|d m s=u32|m|m s=u32",
        f"arrive/arrive_drop expect_tx {_ARRIVING} : d m s=u32|m s=u32",
        f"arrive/arrive_drop noComplete {_ARRIVING} : d m s=u32",
        f"test_wait {_WAITING} : d=pred m s",
        f"test_wait parity {_WAITING} : d=pred m s=u32",
        f"try_wait {_WAITING} : d=pred m s|d=pred m s s=u32",
        f"try_wait parity {_WAITING} : d=pred m s=u32|d=pred m s=u32 s=u32",
        "pending_count b64 : d=u32 s",
    )
)


def _comparisons(result: str, operands: str) -> str:
    """The forms of setp (result: "") and of set, with the types of results they have of each type of operands."""
    found = []
    for sources, relations, flush, results in (
        ("$bits", "$equal", "", "u32/s32/f32/f16/bf16"),
        ("$unsigned", "$order", "", "u32/s32/f32/f16/bf16"),
        ("$signed", "$compare", "", "u32/s32/f32/f16/bf16"),
        ("f32", "$any_order", "ftz? ", "u32/s32/f32/f16/bf16"),
        ("f64", "$any_order", "", "u32/s32/f32/f16/bf16"),
        ("f16", "$any_order", "ftz? ", "u16/u32/s16/s32/f16/bf16"),
        ("bf16", "$any_order", "", "u16/u32/s16/s32/bf16"),
        ("f16x2", "$any_order", "ftz? ", "u32/s32/f16x2"),
        ("bf16x2", "$any_order", "", "u32/s32/bf16x2"),
    ):
        types = f"{results} {sources}" if result else sources
        own = operands.replace("p=", "d=") if sources in ("f16", "bf16") else operands
        found.append(f"{relations} {flush}{types} : {own}")
        found.append(f"{relations} $combine {flush}{types} : {own} s=pred")
    return "; ".join(found)


def _conversions() -> str:
    """The forms of cvt: between whole numbers, between others, and from others."""
    found = []
    integers = {f"{sign}{bits}": (sign == "s", bits) for bits in (8, 16, 32, 64) for sign in "us"}
    for to, (signed, bits) in integers.items():
        held = [
            name
            for name, (other, width) in integers.items()
            if (signed == other and width <= bits) or (signed and not other and width < bits)
        ]
        lost = [name for name in integers if name not in held]
        found.append(f"{to} {'/'.join(integers)} : d~ s1~")
        if lost:
            found.append(f"sat {to} {'/'.join(lost)} : d~ s1~")
    whole = "/".join(integers)
    found += [
        f"$integral sat? {whole} f16/f64 : d~ s1~",
        f"$integral ftz? sat? {whole} f32 : d~ s1~",
        "$integral $integers bf16 : d s1",
        f"$rounding sat? f16/f64 {whole} : d~ s1~",
        f"$rounding ftz? sat? f32 {whole}/f64 : d~ s1~",
        "$rounding bf16 $integers : d s1",
        "$integral? sat? f16 f16 : d~ s1~",
        "sat? f64 f16 : d~ s1~",
        "$integral? sat? f64 f64 : d~ s1~",
        "$integral? bf16 bf16 : d~ s1~",
        "$integral? ftz? sat? f32 f32 : d~ s1~",
        "ftz? sat? f32/f64 f16/f32 : d~ s1~",
        "$rounding? f16/f64 bf16 : d~ s1~",
        "$rounding? bf16 f16 : d~ s1~",
        "$rounding? ftz? f32 bf16 : d~ s1~",
        "$rounding sat? f16 f64 : d~ s1~",
        "$rounding bf16 f64 : d~ s1~",
        "rn/rz ftz? sat? f16 f32 : d~ s1~",
        "rm/rp ftz? sat? f16/bf16 f32 : d~ s1~",
        "rn/rz ftz? bf16 f32 : d~ s1~",
        "rn/rz relu? satfinite? f16/bf16 f32 : d~ s1~",
        "rn/rz relu? satfinite? tf32 f32 : d s1",
        "rna satfinite? tf32 f32 : d s1",
        # Two numbers at once, and small ones
        "rn/rz relu? satfinite? f16x2/bf16x2 f32 : d s1 s1",
        "rs relu? satfinite? f16x2/bf16x2 f32 : d s1 s1 s=b32",
        "rn satfinite relu? e4m3x2/e5m2x2/e2m1x2/e2m3x2/e3m2x2 f32 : d~ s1 s1",
        "rz/rp satfinite? ue8m0x2 f32 : d s1 s1",
        "rz/rp satfinite? ue8m0x2 bf16x2 : d s1",
        "rn satfinite relu? e4m3x2/e5m2x2 f16x2 : d s1",
        "rn relu? f16x2 e4m3x2/e5m2x2/e2m1x2/e2m3x2/e3m2x2 : d s1~",
        "rn bf16x2 ue8m0x2 : d s1",
        "rs relu? satfinite e4m3x4/e5m2x4/e2m1x4/e2m3x4/e3m2x4 f32 : d V=any s=b32",
        "pack sat u16/s16 s32 : d=u32 s1 s1",
        "pack sat u2/s2/u4/s4/u8/s8 s32 b32 : d=u32 s1 s1 s=b32",
    ]
    return "; ".join(found)


FORMS: dict[str, str] = {
    **dict.fromkeys(("add",), _ADD + "; u16x2/s16x2 : d s s"),
    "sub": _ADD,
    **dict.fromkeys(("addc", "subc"), _CARRY),
    **dict.fromkeys(("abs", "neg"), _SIGN),
    "mul": f"hi/lo $integers : d s s; wide u16/u32/s16/s32 : d=wide s s; {_FLOATS.format('d s s')}; "
    "$rounding? ftz? f32x2 : d s s",
    "mul24": "hi/lo u32/s32 : d s s",
    "mad": f"{_PRODUCT.format('d s s s')}; wide u16/u32/s16/s32 : d=wide s s s=wide; "
    "$rounding? ftz? sat? f32 : d s s s; $rounding f64 : d s s s",
    "madc": _PRODUCT.format("d s s s"),
    "mad24": "hi/lo u32/s32 : d s s s; hi sat s32 : d s s s",
    "fma": "$rounding ftz? sat? f32 : d s s s; $rounding f64 : d s s s; rn ftz? sat? f16/f16x2 : d s s s; "
    "rn ftz? relu f16/f16x2 : d s s s; rn/rz relu? bf16/bf16x2 : d s s s; $rounding ftz? f32x2 : d s s s; "
    "rn/rz oob relu? f16/f16x2/bf16/bf16x2 : d s s s",
    "div": "$integers : d s s; $rounding/approx/full ftz? f32 : d s s; $rounding f64 : d s s",
    "rem": "$integers : d s s",
    "sad": "$integers : d s s s",
    **dict.fromkeys(("min", "max"), _EXTREME),
    **dict.fromkeys(("rcp",), _INVERSE + "; approx ftz f64 : d s"),
    "sqrt": _INVERSE,
    "rsqrt": "approx ftz? f32/f64 : d s",
    **dict.fromkeys(("sin", "cos", "lg2"), _APPROXIMATE),
    "ex2": _APPROXIMATE + "; approx f16/f16x2 : d s; approx ftz bf16/bf16x2 : d s",
    "tanh": "approx f32/f16/f16x2/bf16/bf16x2 : d s",
    "testp": "finite/infinite/number/notanumber/normal/subnormal f32/f64 : d=pred s",
    "copysign": "f32/f64 : d s s",
    **dict.fromkeys(("and", "or", "xor"), _LOGIC),
    "not": "$bits/pred : d s",
    "cnot": "$bits : d s",
    "brev": "b32/b64 : d s",
    **dict.fromkeys(("popc", "clz"), "b32/b64 : d=u32 s"),
    "bfind": "shiftamt? $words : d=u32 s",
    "shl": "$bits : d s s=u32",
    "shr": "$bits/$integers : d s s=u32",
    "shf": "l/r clamp/wrap b32 : d s s s=u32",
    "bmsk": "clamp/wrap b32 : d=u32 s=u32 s=u32",
    "szext": "clamp/wrap u32/s32 : d s s=u32",
    "bfe": "$words : d s s=u32 s=u32",
    "bfi": "b32/b64 : d s s s=u32 s=u32",
    "fns": "b32 : d s s s",
    "prmt": "f4e/b4e/rc8/ecl/ecr/rc16? b32 : d s s s",
    "lop3": "b32 : d s s s n; and/or b32 : p s s s n s=pred",
    "dp4a": _DOT,
    "dp2a": "lo/hi " + _DOT,
    "selp": "$bits/$integers/f32/f64 : d s s s=pred",
    "slct": "$bits/$integers/f32/f64 s32 : d s s s1; ftz? $bits/$integers/f32/f64 f32 : d s s s1",
    "setp": _comparisons("", "p=pred s s"),
    "set": _comparisons("d", "d s1 s1"),
    "cvt": _conversions(),
    "cvta": "to? $space u32/u64 : d s",
    # Moves between registers, spaces of memory, and lanes
    "mov": "v2/v4? $bits/b128/$integers/f32/f64/pred : D S",
    "ld": _loads(),
    "ldu": "global? $vector? $element : D~ m",
    "st": _stores(),
    "prefetch": "global/local? L1/L2 : m; global L2::evict_last/L2::evict_normal : m; const/param? tensormap : m",
    "prefetchu": "L1 : m",
    "applypriority": "global? L2::evict_normal : m n",
    "discard": "global? L2 : m n",
    "createpolicy": "~ : d=b64 *",
    "isspacep": "$space : d=pred s=u64",
    "mapa": "shared::cluster? u32/u64 : d s s=u32",
    "getctarank": "shared::cluster? u32/u64 : d=u32 s",
    "atom": _atomics("D "),
    "red": _atomics("") + "; async ~ : m S m",
    "membar": "cta/gl/sys : ; proxy ~ : ",
    "fence": "~ : |m n|m",
    "shfl": "sync up/down/bfly/idx b32 : p s s=u32 s=u32 s=u32; up/down/bfly/idx b32 : p s s=u32 s=u32",
    "vote": "sync all/any/uni pred : d s s=u32; sync ballot b32 : d s=pred s=u32; "
    "all/any/uni pred : d s; ballot b32 : d s=pred",
    "match": "sync any b32/b64 : d=u32 s s=u32; sync all b32/b64 : p=u32 s s=u32",
    "activemask": "b32 : d",
    "elect": "sync : p=u32 s=u32",
    "redux": "sync add/min/max u32/s32 : d s s=u32; sync and/or/xor b32 : d=u32 s=u32 s=u32; "
    "sync min/max abs? NaN? f32 : d s s=u32",
    # Barriers, and what waits for copies
    "bar": _barriers("", ""),
    "barrier": _barriers("cta? ", "aligned? "),
    "barrier_result": "~ : d *",
    "mbarrier": _MBARRIER,
    "cp": "async wait_group : n; async commit_group : ; async wait_all : ; "
    + "; ".join(
        (
            "async ca/cg shared/shared::cta global $fetch? : m m n|m m n s=u32|m m n s=pred",
            "async ca/cg shared/shared::cta global $fetch? L2::cache_hint : m m n s=b64|m m n s=u32 s=b64",
            "async mbarrier arrive noinc? $shared? b64 : m",
            "async bulk ~ : *",
            "reduce async bulk ~ : *",
        )
    ),
    "griddepcontrol": "launch_dependents/wait : ",
    "nanosleep": "u32 : s",
    "pmevent": "mask? : n",
    "setmaxnreg": "inc/dec sync aligned u32 : n",
    "trap": " : ",
    "brkpt": " : ",
    # Matrices
    "mma": "sync aligned $shape row col satfinite? $factor $factor $factor $factor : P P1 P2 P3; "
    "sync aligned $shape row col and/xor popc s32 b1 b1 s32 : P P1 P2 P3; sp/sp::ordered_metadata/block_scale ~ : *",
    "wmma": "load ~ : V m|V m s=u32; store ~ : m V|m V s=u32; mma sync aligned ~ : V V V V",
    "ldmatrix": "sync aligned m8n8 x1/x2/x4 trans? $shared? b16 : V=b32 m",
    "stmatrix": "sync aligned m8n8 x1/x2/x4 trans? $shared? b16 : m V=b32",
    "movmatrix": "sync aligned m8n8 trans b16 : d=b32 r=b32",
    # Textures and surfaces
    "tex": "~ : T m *",
    "tld4": "~ : T m *",
    "txq": "~ : d m|d m s",
    "suld": "~ : D~ m",
    "sust": "~ : m S~",
    "suq": "~ : d m",
    # Video
    **dict.fromkeys(
        ("vadd", "vsub", "vabsdiff", "vmin", "vmax"),
        f"sat? {_VIDEO_TYPES} : v v v|v v v s; sat? add/min/max {_VIDEO_TYPES} : d v v s",
    ),
    "vset": "u32/s32 u32/s32 $compare : v v v|v v v s; u32/s32 u32/s32 $compare add/min/max : d v v s",
    **dict.fromkeys(
        ("vshl", "vshr"),
        f"sat? clamp/wrap {_VIDEO_TYPES} : v v v|v v v s; sat? clamp/wrap add/min/max {_VIDEO_TYPES} : d v v s",
    ),
    "vmad": f"sat? po? shr7/shr15? {_VIDEO_TYPES} : d v v s",
    **{f"v{name}{count}": _OF_PARTS for count in (2, 4) for name in ("add", "sub", "avrg", "absdiff", "min", "max")},
    **{f"vset{count}": "u32/s32 u32/s32 $compare add? : w=u32 w=u32 w=u32 w=u32" for count in (2, 4)},
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
    "wgmma": "mma_async ~ : V *; ~ : *",
    **dict.fromkeys(("tcgen05", "tensormap", "clusterlaunchcontrol"), "~ : *"),
}

Memory = Literal["", "reads", "writes", "updates"]
Work = Literal["", "none", "control", "shared", "tensor", "special"]


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
    "reads": "ld ldu tex tld4 suld ldmatrix prefetch prefetchu mbarrier",
    "writes": "st sust stmatrix",
    "updates": "atom red cp sured multimem wmma",
}
_WORK: dict[Work, str] = {
    # Operands or names in machine code: constants of the launch, pointers that change space
    "none": "cvta isspacep",
    "control": "bra brx call ret exit trap brkpt nanosleep bar barrier membar fence griddepcontrol pmevent setmaxnreg "
    "mbarrier",
    "shared": "shfl ldmatrix stmatrix movmatrix",
    "tensor": "mma wmma wgmma",
    "special": "ex2 lg2 sin cos tanh rsqrt rcp sqrt",  # but for f64
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
