"""Accel-Sim's kernel traces read a second time, in plain Python and thread by thread, to hold the importer against.

Written from the format and from docs/import.md; shares nothing with simtmm/trace/importers but numbers that the page
names. Takes files that are in order.
"""

import re

KINDS = {"load": "async", "store": "store", "atomic": "atomic"}
LOCAL = 1 << 61


def header_of(text):
    found = dict(re.findall(r"^-(.+?) = (.*)$", text, re.MULTILINE))
    return found, [int(n) for n in found["grid dim"].strip("()").split(",")]


def space_and_action(opcode, address, shared_base, local_base):
    """What an access is: (space, action), or None for what is none."""
    word = opcode.split(".")[0]
    table = {
        "LDG": "global load", "STG": "global store", "RED": "global atomic", "ATOMG": "global atomic",
        "LDS": "shared load", "STS": "shared store", "ATOMS": "shared atomic",
        "LDL": "local load", "STL": "local store",
        "LD": "generic load", "ST": "generic store", "ATOM": "generic atomic",
    }  # fmt: skip
    if word not in table:
        return None
    space, action = table[word].split()
    if space == "generic":
        space = "global"
        for base, name in ((shared_base, "shared"), (local_base, "local")):
            if base and base <= address < base + 2**24:
                space = name
    return space, action


def events(text):
    """Rows (block, thread, kind, value, bytes, pc of the site) of one kernel's text, in a trace's order."""
    fields, grid = header_of(text)
    version, lineinfo = int(fields["accelsim tracer version"]), fields.get("enable lineinfo") == "1"
    x, y, z = (int(n) for n in fields["block dim"].strip("()").split(","))
    shared_base, local_base = int(fields["shmem base_addr"], 16), int(fields["local mem base_addr"], 16)
    threads, blocks = x * y * z, grid[0] * grid[1] * grid[2]
    rows = []
    for body in re.findall(r"#BEGIN_TB(.*?)#END_TB", text, re.DOTALL):
        bx, by, bz = (int(n) for n in re.search(r"thread block = (\d+),(\d+),(\d+)", body).groups())
        block = bx + grid[0] * (by + grid[1] * bz)
        for warp, _, part in re.findall(r"warp = (\d+)\s+insts = (\d+)\n(.*?)(?=\nwarp = |\Z)", body, re.DOTALL):
            lines = [words for words in (row.split() for row in part.splitlines()) if words]
            lines = [instruction(words[4 * (version < 3) :], lineinfo) for words in lines]
            lines = [parts for parts in lines if parts["mask"]]
            for lane in range(32):
                thread = 32 * int(warp) + lane
                where = (block, thread, block * threads + thread, blocks * threads, shared_base, local_base)
                rows += of_lane(lines, lane, *where)
    return sorted(rows, key=lambda row: row[:2])  # stable: each thread's own order stays


def instruction(words, lineinfo):
    words = words[lineinfo:]
    pc, mask = int(words[0], 16), int(words[1], 16)
    count = int(words[2])
    to, rest = words[3 : 3 + count], words[3 + count :]
    opcode, count = rest[0], int(rest[1])
    of, rest = rest[2 : 2 + count], rest[2 + count :]
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    width, addresses = int(rest[0]), {}
    if width and lanes:
        mode = int(rest[1])
        if mode == 0:
            values = [int(word, 16) for word in rest[2 : 2 + len(lanes)]]
        elif mode == 1:
            values = [int(rest[2], 16) + int(rest[3]) * index for index in range(len(lanes))]
        else:
            values = [int(rest[2], 16)]
            for word in rest[3 : 2 + len(lanes)]:
                values.append(values[-1] + int(word))
        addresses = dict(zip(lanes, values, strict=True))
    numbers = [[int(name[1:]) for name in names if name[0] == "R" and name != "R255"] for names in (to, of)]
    return {"pc": pc, "mask": mask, "to": numbers[0], "of": numbers[1], "last": of[-1:], "opcode": opcode,
            "width": width, "addresses": addresses}  # fmt: skip


def of_lane(lines, lane, block, thread, global_thread, all_threads, shared_base, local_base):
    """The events of one thread; work that nothing of the thread's stands between is one event."""
    rows, asyncs, joined, writes = [], 0, 0, {}

    def emit(kind, value, width):
        rows.append([block, thread, kind, value, width, parts["pc"]])

    for parts in lines:
        if not parts["mask"] >> lane & 1:
            continue
        width = parts["width"]
        address = parts["addresses"].get(lane)
        access = space_and_action(parts["opcode"], address, shared_base, local_base) if width else None
        read = list(parts["of"])
        if access and access[1] != "load" and parts["last"] not in ([], ["R255"]):
            read += [int(parts["last"][0][1:]) + more for more in range(1, (width + 3) // 4)]
        needed = max((writes[register] for register in read if register in writes), default=0)
        if needed > joined:
            emit("join", asyncs - needed, 0)
            joined = needed
        for register in parts["to"]:
            writes.pop(register, None)
        if access:
            space, action = access
            if space == "shared":
                offset = address - shared_base if shared_base <= address < shared_base + 2**24 else address
                emit(f"shared_{action}", offset % 2**24, width)
                continue
            if space == "local":
                unit = max(4, 1 << (width - 1).bit_length())
                own = (address - local_base if local_base <= address < local_base + 2**24 else address) % 2**19
                address = LOCAL + (own // unit * all_threads + global_thread) * unit + own % unit
            emit(KINDS[action], address, width)
            if action == "load":
                asyncs += 1
                for register in parts["to"]:
                    writes |= dict.fromkeys(range(register, min(register + max(1, (width + 3) // 4), 255)), asyncs)
        elif parts["opcode"].startswith("BAR.") and parts["opcode"] != "BAR.ARV":
            emit("barrier", 0, 0)
            joined = asyncs
        elif rows and rows[-1][2] == "work":
            rows[-1][3] += 1
        else:
            emit("work", 1, 0)
    return [tuple(row) for row in rows]
