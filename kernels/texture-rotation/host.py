"""Rotation of an image: reads of a texture, whose neighbours lie in both directions.

An element a thread, read where the turned image has it: the nearest one, or four that are weighed by fractions of 8
bits. Elements lie in rows, or in tiles as a GPU keeps the arrays of textures, so that neighbours in a column share a
chunk, too. Machines have no cache for textures alone: a fetch (`tex`) is recorded as a load of one element, and timed
as what it is here, a load through L1 and L2 (docs/ptx.md). Filtering costs a texture nothing, and four loads here.
"""

from math import cos, radians, sin

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 5.2.1 and 002, which leave texture memory for future work"

PARAMETERS = {
    "n": Parameter(128, "side of the image", minimum=1, maximum=8192),
    "angle": Parameter(30.0, "degrees that it is turned by", minimum=0.0, maximum=360.0),
    "layout": Parameter("tiles", "how the image lies in memory", choices=("rows", "tiles")),
    "filtering": Parameter("nearest", "elements that are read", choices=("nearest", "linear")),
    "tile": Parameter(8, "side of a tile", minimum=1, maximum=64),
    "width": Parameter(32, "threads of a block along a row", minimum=1, maximum=1024),
    "height": Parameter(4, "threads of a block along a column", minimum=1, maximum=1024),
}

REGISTERS = 16  # assumption: pointers, coordinates, four elements and their weights
ONE = 1 << 16


def turn(p):
    """Cosine and sine with 16 bits behind the point."""
    return round(cos(radians(p.angle)) * ONE), round(sin(radians(p.angle)) * ONE)


def defines(p):
    return {"TILE": p.tile, "IN_TILES": int(p.layout == "tiles"), "LINEAR": int(p.filtering == "linear")}


def image(p):
    return np.random.default_rng(p.seed).integers(0, 256, (p.n, p.n), dtype=np.uint32)


def inputs(p):
    found = image(p)
    if p.layout == "tiles":
        tiles = -(-p.n // p.tile)
        whole = np.zeros((tiles * p.tile, tiles * p.tile), dtype=np.uint32)
        whole[: p.n, : p.n] = found
        found = np.ascontiguousarray(whole.reshape(tiles, p.tile, tiles, p.tile).swapaxes(1, 2))
    return {"image": found, "turned": np.zeros((p.n, p.n), dtype=np.uint32)}


def launches(p, memory):
    yield Launch(
        "rotate",
        ("image", "turned", p.n, *turn(p)),
        grid=(-(-p.n // p.width), -(-p.n // p.height)),
        block=(p.width, p.height),
        registers_per_thread=REGISTERS,
    )


def check(p, before, after):
    of = image(p).astype(np.int64)
    cosine, sine = turn(p)
    y, x = np.mgrid[: p.n, : p.n] - p.n // 2
    u, v = cosine * x - sine * y + p.n // 2 * ONE, sine * x + cosine * y + p.n // 2 * ONE

    def at(column, row):
        return of[row.clip(0, p.n - 1), column.clip(0, p.n - 1)]

    if p.filtering == "nearest":
        expected = at((u + ONE // 2) >> 16, (v + ONE // 2) >> 16)
    else:
        column, row, of_u, of_v = u >> 16, v >> 16, u >> 8 & 255, v >> 8 & 255
        upper = at(column, row) * (256 - of_u) + at(column + 1, row) * of_u
        lower = at(column, row + 1) * (256 - of_u) + at(column + 1, row + 1) * of_u
        expected = (upper * (256 - of_v) + lower * of_v) >> 16
    expect_equal("turned", after["turned"], expected)
