"""What operands each instruction takes: how many, and of which kinds. It is looked at before an instruction is run.

A row is the forms of an opcode, as the PTX ISA lists them, with a letter for each operand:

    d  a destination: a register, or the sink _
    p  the same, or two of them: d|p
    D  a destination, or several in braces
    V  several in braces
    T  destinations in braces, and a predicate that tells whether there is a texel: {d}|p
    s  a value: a register, a number, the address of a symbol, a predicate (negated, too), or _ for none
    S  the same, or several in braces
    v  a value of which a part may be named (video instructions): %r1.b0
    n  a number
    m  a place in memory, in brackets
    t  the name of a label, a table or a function
    *  operands of any kind, from here on

Alternatives stand apart by |.
"""

from simtmm.cuda.ptx.syntax import (
    Address,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    Part,
    Register,
    Sink,
    Symbol,
    Vector,
)

_ONE = "d s"
_TWO = "d s s"
_THREE = "d s s s"
_VIDEO = "d v v|d v v s"
_ANY = "*"  # refused whatever they have, or looked at where they are translated

FORMS: dict[str, str] = {
    **dict.fromkeys(("abs", "neg", "not", "cnot", "brev", "clz", "popc", "bfind", "cvta"), _ONE),
    **dict.fromkeys(("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "testp"), _ONE),
    **dict.fromkeys(("add", "sub", "addc", "subc", "mul", "mul24", "div", "rem", "min", "max"), _TWO),
    **dict.fromkeys(("and", "or", "xor", "shl", "shr", "bmsk", "szext", "copysign"), _TWO),
    **dict.fromkeys(("mad", "madc", "mad24", "fma", "sad", "dp4a", "dp2a"), _THREE),
    **dict.fromkeys(("bfe", "fns", "shf", "prmt", "selp", "slct"), _THREE),
    "min": "d s s|d s s s",
    "max": "d s s|d s s s",
    "bfi": "d s s s s",
    "lop3": "d s s s n|p s s s n s",
    "set": "d s s|d s s s",
    "setp": "p s s|p s s s",
    "cvt": "d s|d s s|d s s s|d V s",
    # Moves between registers, spaces of memory, and lanes
    "mov": "D S",
    "ld": "D m|D m s",
    "ldu": "D m",
    "st": "m S|m S s|m S m",
    "prefetch": "m|m s",
    "prefetchu": "m",
    "applypriority": "m n",
    "discard": "m n",
    "createpolicy": _ANY,
    "isspacep": _ONE,
    "mapa": "d s s",
    "getctarank": _ONE,
    "atom": "D m|D m S|D m S S|D m S S s",
    "red": "m S|m S s|m S m",
    "membar": "",
    "fence": "|m n|m",
    "shfl": "p s s s|p s s s s",
    "vote": "d s|d s s",
    "match": "p s s",
    "activemask": "d",
    "elect": "p s",
    "redux": "d s s",
    # Barriers, and what waits for copies
    "bar": "s|s s|d s s|d s s s|",
    "barrier": "s|s s|d s s|d s s s|",
    "barrier_result": _ANY,
    "mbarrier": _ANY,
    "cp": _ANY,
    "griddepcontrol": "",
    "nanosleep": "s",
    "pmevent": "n",
    "setmaxnreg": "n",
    "trap": "",
    "brkpt": "",
    # Matrices
    "mma": "V V V V|V V V V *",
    "wmma": _ANY,
    "ldmatrix": "V m",
    "stmatrix": "m V",
    "movmatrix": _ONE,
    # Textures and surfaces
    "tex": "T m *",
    "tld4": _ANY,
    "txq": "d m|d m s",
    "suld": "D m",
    "sust": "m S",
    "suq": "d m",
    # Video
    **dict.fromkeys(("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset"), "v v v|v v v s"),
    **dict.fromkeys(("vshl", "vshr"), "v v v|v v v s"),
    "vmad": "d v v s",
    **{f"v{name}{count}": "v v v s|v v v" for count in (2, 4) for name in ("add", "sub", "avrg", "absdiff")},
    **{f"v{name}{count}": "v v v s|v v v" for count in (2, 4) for name in ("min", "max", "set")},
    # Control
    "bra": "t",
    "brx": "s t",
    "call": _ANY,
    "ret": "",
    "exit": "",
    "leave_convergence": _ANY,
    # Known, and run nowhere here
    **dict.fromkeys(("alloca", "stacksave", "stackrestore", "istypep", "sured", "multimem"), _ANY),
    **dict.fromkeys(("wgmma", "tcgen05", "tensormap", "clusterlaunchcontrol"), _ANY),
}

# Of those with these modifiers, in the place of the opcode's own forms
REFINED: dict[str, tuple[tuple[frozenset[str], str], ...]] = {
    "cp": (
        (frozenset({"async", "wait_group"}), "n"),
        (frozenset({"async", "commit_group"}), ""),
        (frozenset({"async", "wait_all"}), ""),
    ),
    **dict.fromkeys(("bar", "barrier"), ((frozenset({"cluster"}), ""), (frozenset({"arrive"}), "s s"))),
}

_VALUES = (Register, Immediate, Symbol, Negated, Sink)
_KINDS: dict[str, tuple[type, ...]] = {
    "d": (Register, Sink),
    "p": (Register, Sink, Pair),
    "D": (Register, Sink, Vector),
    "V": (Vector,),
    "T": (Vector, Pair),
    "s": _VALUES,
    "S": (*_VALUES, Vector),
    "v": (*_VALUES, Part),
    "n": (Immediate,),
    "m": (Address,),
    "t": (Symbol, Register),
}


def takes(instruction: Instruction) -> bool:
    """Whether an instruction's operands are of a form that its opcode has; true of an opcode without a row."""
    forms = FORMS.get(instruction.opcode)
    for modifiers, refined in REFINED.get(instruction.opcode, ()):
        if modifiers <= set(instruction.modifiers):
            forms = refined
            break
    return forms is None or any(_fits(form.split(), instruction.operands) for form in forms.split("|"))


def _fits(form: list[str], operands: tuple[Operand, ...]) -> bool:
    if form[-1:] == ["*"]:
        form = form[:-1]
        operands = operands[: len(form)]
    return len(form) == len(operands) and all(map(_is_of_kind, form, operands))


def _is_of_kind(letter: str, operand: Operand) -> bool:
    return isinstance(operand, _KINDS[letter])
