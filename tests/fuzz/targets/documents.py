"""Machines, workloads, studies and files of launches: samples, and all that is made of one."""

import copy
import json
import tomllib

from simtmm import load_machine
from simtmm.files import data_file
from simtmm.machine import Machine, machine_toml, units
from simtmm.recorder.compiled.launches_file import load_launches
from simtmm.report.listing import machine_document
from simtmm.study.design.design import design_file
from simtmm.study.sweep import evaluation_of
from tests.fuzz.bounds import read_or_refused
from tests.study.programs import MACHINE

SHIPPED = [data_file("machines", f"{name}.toml").read_bytes() for name in ("gtx280", "a40", "h100-pcie", "cray-xmt")]
MACHINES = [tomllib.loads(text.decode()) for text in SHIPPED]
MACHINES = [*MACHINES, *({**tables, "sources": {}} for tables in MACHINES), tomllib.loads(MACHINE)]
KEYS = sorted(units())


def used_machine(path):
    """All that is made of a machine, but for a simulation."""
    machine = load_machine(path)
    json.dumps(machine_document(machine), allow_nan=False)
    assert Machine.from_dict(tomllib.loads(machine_toml(machine)), "again") == machine
    for threads, registers, shared in ((1, 0, 0), (128, 16, 1000), (65536, 255, 49152)):
        read_or_refused(lambda of=(threads, registers, shared): machine.active_blocks(*of))
    return machine


def with_keys(tables, changes):
    """The tables with values of dotted keys; where a table stands in no table, it is left out."""
    copied = copy.deepcopy(tables)
    for dotted, value in changes:
        *way, last = dotted.split(".")
        table = copied
        for key in way:
            table = table.setdefault(key, {}) if isinstance(table, dict) else {}
        if isinstance(table, dict):
            table[last] = value
    return copied


def as_json(document):
    """As Python writes it, NaN and infinities too, which it reads again."""
    return json.dumps(document).encode()


OPERATIONS = [
    ["compute", 4], ["shared", 2], ["load", [0, 1, 7]], ["async", [3]], ["store", [1]], ["atomic", [3, 3]], ["join", 1],
    ["join"], ["barrier"], ["pause", 5], ["sync"], ["reduce", [2, 2]], ["compute", 3, "fp64"],
]  # fmt: skip
WORKLOADS = [
    {"blocks": [{"warps": [OPERATIONS, OPERATIONS[:3]]}, {"warps": []}], "blocks_per_group": 2},
    {"launches": [{"blocks": [{"warps": [[], OPERATIONS]}]}, {"blocks": []}]},
]
STUDIES = [
    {
        "program": "list-ranking", "kind": "algorithm", "machines": ["gtx280", "gtx480"], "parameters": {"T": 8},
        "axes": {"n": "1e3:1e9:log:7", "memory": {"latency": [100, 200]}}, "constraints": ["memory.latency < n"],
    },
    {
        "program": "traced.parquet", "machines": ["small.toml"], "compute": ["tmm", "simulated"],
        "axes": {"memory.latency": "1:10:step:2"}, "set": {"scheduling": {"scheduler": "fifo"}},
        "linked": [{"cores.groups": "1:3", "memory.partitions": "1:3"}],
    },
    {
        "program": "merge-sort", "kind": "algorithm", "compute": ["tmm"],
        "sample": {"points": 5, "seed": 1, "method": "random", "axes": {"n": "10:1000:log", "memory.latency": "1:10"}},
    },
]  # fmt: skip
RANGES = [
    "1:3", "0:1:step:0.25", "-1e308:1e308:linear:3", "1e-308:1e308:log:3", "0:1e308:step:1e307", "1:1e308:times:1e200",
    "1:1e308:times:1.0001", "5e-324:1:log:3", "nan:1", "inf:inf", "1:2:step:nan", "1:2:step:5e-324", "1:100001", ":",
    "1:2:log:", "none,2", ",,", "1e400", "9" * 400 + ":" + "9" * 401, "-1e308:1e308", "1e300:1e308:log", "-5:5:log",
]  # fmt: skip
CONDITIONS = [
    ["'x' * 9999999999 == 'y'"], ["n.__class__"], ["-" * 3000 + "n"], ["(" * 90 + "1" + ")" * 90], ["1/0 == 1"],
    ["not " * 500 + "n"], ["sqrt(-1) > 0"], ["floor(1e308*10) > 1"], ["+".join("1" * 300) + " > 0"], ["n ** 9"],
    ["'%d' % n"],
]  # fmt: skip


def designed(path):
    """How the study's points are computed, where they are not too many."""
    design = design_file(path)
    json.dumps(design.document())
    return evaluation_of(design) if design.size <= 3000 else None


LAUNCHES = {
    "source": "add.ptx",
    "options": ["-DFACTOR=1"],
    "arrays": {"y": "ones:float32:40", "x": "random:int64:8", "z": "arange:int32:5"},
    "launch": [
        {"kernel": "add", "grid": 2, "block": [32, 1], "arguments": {"n": 40, "y": "y"}, "repeat": 3, "shared": 4},
        {"grid": "2x1", "block": 32, "arguments": ["y", 40]},
    ],
    "check": {"y": "full:float32:40:5", "tolerance": 0.5},
}
SPELLED = [
    "zeros:float32:1000000000000000", "zeros:float32:0", "ones:int8:-1", "full:float32:40", "random:f:1",
    "arange:int8:1000", "x.npy", "../x.npy", "zeros:object:3", "zeros:float32:2x3", "full:int8:4:1e9",
    "zeros:float32:1e400",
    "zeros:float32:" + "9" * 5000,
]  # fmt: skip


def laid_out(path):
    """The arrays of a file of launches."""
    (path.parent / "add.ptx").write_text(".version 8.0\n.target sm_80\n.address_size 64\n")
    kernel = load_launches(path)
    return kernel.inputs(kernel.resolve({}))
