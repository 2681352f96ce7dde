"""The forms of what computes: arithmetic, comparisons, bits, conversions, video. Their notation is isa's."""

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
_SHIFT_TYPES = "u32/s32 u32/s32 u32"
_VIDEO = "v=u32 v=u32 v=u32"


def _comparisons(operands: str, has_type: bool) -> str:
    """The forms of set and setp. has_type: whether the result is of a type as well, as set's is."""
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
        types = f"{results} {sources}" if has_type else sources
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
        "rs relu? satfinite e4m3x4/e5m2x4/e2m1x4/e2m3x4/e3m2x4 f32 : d V s=b32",
        "pack sat u16/s16 s32 : d=u32 s1 s1",
        "pack sat u2/s2/u4/s4/u8/s8 s32 b32 : d=u32 s1 s1 s=b32",
    ]
    return "; ".join(found)


ARITHMETIC: dict[str, str] = {
    "add": _ADD + "; u16x2/s16x2 : d s s",
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
    "rcp": _INVERSE + "; approx ftz f64 : d s",
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
    "setp": _comparisons("p=pred s s", has_type=False),
    "set": _comparisons("d s1 s1", has_type=True),
    "cvt": _conversions(),
    "cvta": "to? $space u32/u64 : d s",
    # Video
    **dict.fromkeys(
        ("vadd", "vsub", "vabsdiff", "vmin", "vmax"),
        f"sat? {_VIDEO_TYPES} : {_VIDEO}|{_VIDEO} s; sat? add/min/max {_VIDEO_TYPES} : d v=u32 v=u32 s",
    ),
    "vset": f"u32/s32 u32/s32 $compare : {_VIDEO}|{_VIDEO} s; u32/s32 u32/s32 $compare add/min/max : d v=u32 v=u32 s",
    **dict.fromkeys(
        ("vshl", "vshr"),
        f"sat? clamp/wrap {_SHIFT_TYPES} : {_VIDEO}|{_VIDEO} s; "
        f"sat? clamp/wrap add/min/max {_SHIFT_TYPES} : d v=u32 v=u32 s",
    ),
    "vmad": f"sat? po? shr7/shr15? {_VIDEO_TYPES} : d v=u32 v=u32 s",
    **{f"v{name}{count}": _OF_PARTS for count in (2, 4) for name in ("add", "sub", "avrg", "absdiff", "min", "max")},
    **{f"vset{count}": "u32/s32 u32/s32 $compare add? : w=u32 w=u32 w=u32 w=u32" for count in (2, 4)},
}
