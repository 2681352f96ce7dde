"""Texts of other tools, written by hand or drawn at random."""

import itertools
import random

WARP = 32
FULL = (1 << WARP) - 1


def lanes_of(mask):
    return [lane for lane in range(WARP) if mask >> lane & 1]


def addresses_text(addresses, mode):
    """The address words of a line: mode 0 lists, 1 is base and stride, 2 base and deltas."""
    if mode == 0:
        return " ".join(["0", *(f"0x{address:x}" for address in addresses)])
    if mode == 1:
        stride = addresses[1] - addresses[0] if len(addresses) > 1 else 0
        assert addresses == [addresses[0] + stride * index for index in range(len(addresses))]
        return f"1 0x{addresses[0]:x} {stride}"
    deltas = [str(after - before) for before, after in itertools.pairwise(addresses)]
    return " ".join(["2", f"0x{addresses[0]:x}", *deltas])


def line(opcode, mask=FULL, pc=0, to=(), of=(), width=0, addresses=(), mode=0, text=None):  # noqa: PLR0913, PLR0917 - each is a part of what is made
    """An instruction without what a version puts around it: (pc, words from mask on)."""
    words = [f"{mask:08x}", str(len(to)), *to, opcode, str(len(of)), *of, str(width)]
    if text is not None:
        words.append(text)
    elif width:
        words.append(addresses_text(list(addresses), mode))
    return pc, " ".join(words)


def load(address, to, mask=FULL, pc=0, opcode="LDG.E", width=4, of=("R2",), stride=None, mode=0):  # noqa: PLR0913, PLR0917 - each is a part of what is made
    stride = width if stride is None else stride
    addresses = [address + stride * lane for lane in lanes_of(mask)]
    return line(opcode, mask, pc, (to,), of, width, addresses, mode)


def store(address, data, mask=FULL, pc=0, opcode="STG.E", width=4, to=(), mode=0):
    return line(opcode, mask, pc, to, ("R2", data), width, [address + width * lane for lane in lanes_of(mask)], mode)


def header(  # noqa: PLR0913, PLR0917 - each is a part of what is made
    name="_Z1fv", grid=(1, 1, 1), block=(32, 1, 1), version=5, shmem=0, nregs=16, lineinfo=None,
    shared_base=0x7F0010000000, local_base=0x7F0020000000, **others,
):  # fmt: skip
    fields = {
        "kernel name": name,
        "kernel id": 1,
        "grid dim": "({},{},{})".format(*grid),
        "block dim": "({},{},{})".format(*block),
        "shmem": shmem,
        "nregs": nregs,
        "binary version": 80,
        "cuda stream id": 0,
        "shmem base_addr": f"0x{shared_base:016x}",
        "local mem base_addr": f"0x{local_base:016x}",
        "nvbit version": "1.7",
        "accelsim tracer version": version,
    }
    if lineinfo is not None:
        fields["enable lineinfo"] = int(lineinfo)
    fields |= {key.replace("_", " "): value for key, value in others.items()}
    lines = [f"-{key} = {value}" for key, value in fields.items() if value is not None]
    return "\n".join([*lines, "", "#traces format = PC mask ...", ""]) + "\n"


def traceg(blocks, version=5, lineinfo=None, grid=None, **fields):
    """The text of a kernel trace. blocks: {(x, y, z): {warp: [line, ...]}}, or a list of warps of one block."""
    if isinstance(blocks, list):
        blocks = {(0, 0, 0): dict(enumerate(blocks))}
    grid = grid or (len(blocks), 1, 1)
    text = header(grid=grid, version=version, lineinfo=lineinfo, **fields)
    for (x, y, z), warps in blocks.items():
        text += f"\n#BEGIN_TB\n\nthread block = {x},{y},{z}\n\n"
        for warp, lines in warps.items():
            text += f"warp = {warp}\ninsts = {len(lines)}\n"
            for pc, words in lines:
                before = f"{x} {y} {z} {warp} " if version < 3 else ""
                before += f"{pc // 16 + 7} " if lineinfo else ""
                behind = " 0" if version >= 5 else " "
                text += f"{before}{pc:04x} {words}{behind}\n"
            text += "\n"
        text += "#END_TB\n"
    return text


OPCODES = {
    "IADD3": (0, 1, 2, None), "FFMA.FTZ": (0, 1, 3, None), "EXIT": (0, 0, 0, None), "LDC": (4, 1, 0, "constant"),
    "LDG.E": (4, 1, 1, "global"), "LDG.E.64": (8, 1, 1, "global"), "LDG.E.128.SYS": (16, 1, 1, "global"),
    "LDG.E.U8": (1, 1, 1, "global"), "STG.E": (4, 0, 2, "global"), "STG.E.128": (16, 0, 2, "global"),
    "RED.E.ADD": (4, 0, 2, "global"), "ATOMG.E.ADD": (4, 1, 2, "global"),
    "LDS.U.32": (4, 1, 1, "shared"), "STS.64": (8, 0, 2, "shared"), "ATOMS.ADD": (4, 1, 2, "shared"),
    "LDL": (4, 1, 1, "local"), "STL.64": (8, 0, 2, "local"), "STL.U8": (1, 0, 2, "local"),
    "LD.E": (4, 1, 1, "generic"), "ST.E": (4, 0, 2, "generic"), "ATOM.E.ADD": (4, 1, 2, "generic"),
    "BAR.SYNC": (0, 0, 0, None), "BAR.ARV": (0, 0, 0, None), "MEMBAR.GPU": (0, 0, 0, None),
}  # fmt: skip
SHARED_BASE, LOCAL_BASE = 0x7F0010000000, 0x7F0020000000


def drawn(seed, version, blocks=3, warps=2, length=60, partial=20, lineinfo=None):
    """A random trace: few registers, so that loads are read, overwritten, and read again; every mode of addresses."""
    draw = random.Random(seed)

    def address(space):
        if space == "generic":
            space = draw.choice(["global", "shared", "local"])
            if space == "shared":
                return SHARED_BASE + draw.randrange(1 << 13)
        if space == "shared":  # as an offset, or where the window makes it an address
            return draw.choice([0, SHARED_BASE]) + draw.randrange(1 << 13)
        base, size = {"global": (0x7F0000000000, 1 << 18), "local": (LOCAL_BASE, 1 << 12), "constant": (0, 1 << 12)}[
            space
        ]
        return base + draw.randrange(size)

    def instruction(last, threads):
        opcode = draw.choice(list(OPCODES))
        width, to, of, space = OPCODES[opcode]
        room = (1 << threads) - 1
        mask = draw.choice([room, room, draw.getrandbits(32) & room, draw.choice([1, 2, 6, 0]), 0x0FF0 & room])
        to = [f"R{draw.choice([4, 5, 6, 7, 8, 255])}" for _ in range(to)]
        of = [f"R{draw.choice([4, 5, 6, 7, 8, 9, 255])}" for _ in range(of)]
        count = len(lanes_of(mask))
        mode = draw.choice([0, 2])
        lowest = mask & -mask
        if not count:
            text = draw.choice(["1 0x0 0", "0"])
        elif not mask & (mask + lowest) and draw.random() < 0.5:
            start, step = address(space) if space else 0, draw.choice([0, 4, 8, 128])
            text = addresses_text([start + step * index for index in range(count)], 1)
        else:
            text = addresses_text([address(space) if space else 0 for _ in range(count)], mode)
        return line(opcode, mask, 16 * draw.randrange(last), to, of, width, text=text if width else None)

    threads = WARP * (warps - 1) + partial
    warps_of = {}
    for block in range(blocks):
        warps_of[(block, 0, 0)] = {
            warp: [instruction(40, min(WARP, threads - WARP * warp)) for _ in range(draw.randrange(length))]
            for warp in range(warps)
        }
    return traceg(warps_of, version, lineinfo, block=(threads, 1, 1), shmem=4096)
