"""The forms of products of matrices by four warps, and of changes of tensor maps. Their notation is isa's."""

import re

WGMMA_DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32, "b1": 256}
"""K of each type of factors."""

_COLUMNS = range(8, 257, 8)
_FEWER = (8, 16, 24, *range(32, 257, 16))  # of whole numbers


def _shapes(columns: "range | tuple[int, ...]", depth: int) -> str:
    return "/".join(f"m64n{count}k{depth}" for count in columns)


def wgmma() -> str:
    """The forms of wgmma: D, A in registers or by a descriptor, B by one, whether D is added, signs, transpositions."""
    by_halves = "P s=b64 s=b64 s=pred n n n n|P P1 s=b64 s=pred n n n"
    signed = "P s=b64 s=b64 s=pred n n|P P1 s=b64 s=pred n n"
    plain = "P s=b64 s=b64 s=pred|P P1 s=b64 s=pred"
    dense = [
        f"mma_async sync aligned {_shapes(_COLUMNS, 16)} f16/f32 f16 f16 : {by_halves}",
        f"mma_async sync aligned {_shapes(_COLUMNS, 16)} f32 bf16 bf16 : {by_halves}",
        f"mma_async sync aligned {_shapes(_COLUMNS, 8)} f32 tf32 tf32 : {signed}",
        f"mma_async sync aligned {_shapes(_COLUMNS, 32)} f16/f32 e4m3/e5m2 e4m3/e5m2 : {signed}",
        f"mma_async sync aligned {_shapes(_FEWER, 32)} satfinite? s32 s8/u8 s8/u8 : {plain}",
    ]
    found = [
        *dense,
        *(_sparse(each) for each in dense),
        f"mma_async sync aligned {_shapes(_FEWER, 256)} and popc s32 b1 b1 : {plain}",
        "fence sync aligned : ",
        "commit_group sync aligned : ",
        "wait_group sync aligned : n",
    ]
    return "; ".join(found)


def _sparse(form: str) -> str:
    """The same, of a sparse A: twice as deep, with metadata and the selector of the lanes that have them."""
    modifiers, _, operands = form.replace("mma_async", "mma_async sp").partition(" : ")
    deeper = re.sub(r"(m64n\d+k)(\d+)", lambda found: f"{found[1]}{2 * int(found[2])}", modifiers)
    return f"{deeper} : {operands.replace(' s=pred', ' s=b32 n s=pred')}"


def tensor_maps() -> str:
    """The forms of tensormap: a field replaced, by its number where there are several of it, and a map copied."""
    space = "global/shared::cta?"
    return "; ".join(
        (
            f"replace tile global_address {space} b1024 b64 : m s=b64",
            f"replace tile rank {space} b1024 b32 : m s=b32",
            f"replace tile box_dim/global_dim/element_stride {space} b1024 b32 : m n s=b32",
            f"replace tile global_stride {space} b1024 b64 : m n s=b64",
            f"replace tile elemtype/interleave_layout/swizzle_mode/fill_mode {space} b1024 b32 : m n",
            "cp_fenceproxy global shared::cta tensormap::generic release cta/cluster/gpu/sys sync aligned : m m n",
        )
    )
