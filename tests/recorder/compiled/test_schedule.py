"""The order of machine code: which loads are under way when, against what the disassembler shows."""

import re
import subprocess

import numpy as np
import pytest

import simtmm
from simtmm.cuda.compilers import compile_source
from simtmm.cuda.compilers.wheels import find_tool
from simtmm.trace.schema import Kind

GEMM = """
extern "C" __global__ void f(int n, const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c)
{
    int row = threadIdx.y, column = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
"""
SPMV = """
extern "C" __global__ void f(
    int n, const int* __restrict__ rows, const int* __restrict__ columns, const float* __restrict__ values,
    const float* __restrict__ x, float* __restrict__ y)
{
    int row = threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int k = rows[row]; k < rows[row + 1]; ++k) sum += values[k] * x[columns[k]];
    y[row] = sum;
}
"""
STENCIL = """
extern "C" __global__ void f(int n, const float* __restrict__ a, float* __restrict__ b)
{
    int i = 1 + threadIdx.x;
    if (i < n - 1) b[i] = 0.5f * a[i] + 0.25f * a[i - 1] + 0.125f * a[i + 1];
}
"""


def shown(tmp_path, source, architecture, options=()):
    """The instructions of f as `nvdisasm` prints them, without simtmm: their texts."""
    module = compile_source(source, architecture=architecture)
    (tmp_path / "f.ptx").write_text(module.ptx)
    command = [str(find_tool("ptxas")), f"-arch=sm_{architecture}", *options, str(tmp_path / "f.ptx"), "-o"]
    subprocess.run([*command, str(tmp_path / "f.cubin")], check=True, capture_output=True)
    command = [str(find_tool("nvdisasm")), "-c", str(tmp_path / "f.cubin")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [" ".join(found.split()) for found in re.findall(r"/\*[0-9a-f]{4}\*/\s+([^;]*[^; ]) *;", text)]


def stretch_to(instructions, last):
    """The loads of a stretch of straight code up to one of them: behind a branch, or behind a product."""
    found = []
    for text in reversed(instructions[: instructions.index(last) + 1]):
        if re.match(r"(@!?U?P\w+ )?(BRA|EXIT|FFMA|FMUL)\b", text):
            break
        if re.match(r"(@!?U?P\w+ )?LDG\b", text):
            found.append(text)
    return found[::-1]


def most_under_way(trace, thread=0, launch=0):
    """Loads of a thread that were begun and not yet waited for, at most, from the values that sites give and need."""
    sites = {site.site: site for site in trace.info.sites}
    pending = {}
    most = 0
    for batch in trace.batches():
        for event in batch.events[batch.events["thread"] == thread]:
            site = sites[int(event["site"])]
            for value in site.needs:
                pending.pop(value, None)
            if event["kind"] == Kind.ASYNC:
                for value in site.gives:
                    pending[value] = pending.get(value, 0) + 1
            most = max(most, sum(pending.values()))
    return most


def loads_before_fp32(trace, thread=0):
    """Texts of a thread's loads, in its order, between two sites with floating-point work: where there are most."""
    sites = {site.site: site for site in trace.info.sites}
    most, here = [], []
    for batch in trace.batches():
        for event in batch.events[batch.events["thread"] == thread]:
            site = sites[int(event["site"])]
            if dict(site.work).get("fp32"):
                most, here = max(most, here, key=len), []
            if event["kind"] == Kind.ASYNC:
                here.append(site.instruction)
    return most


ARGUMENTS = {
    "gemm": (GEMM, (8, 8), ("n=64", *(f"{name}=random:float32:4096" for name in "abc"))),
    "spmv": (
        SPMV, (1,),
        ("n=1", "rows=rows.npy", "columns=arange:int32:64", "values=ones:float32:64", "x=ones:float32:64",
         "y=zeros:float32:1"),
    ),
    "stencil": (STENCIL, (32,), ("n=34", "a=random:float32:64", "b=zeros:float32:64")),
}  # fmt: skip


@pytest.mark.parametrize("name", list(ARGUMENTS))
@pytest.mark.parametrize("architecture", [75, 90])
def test_as_many_loads_come_before_the_sum_as_the_disassembler_shows(name, architecture, ran, tmp_path):
    source, block, arguments = ARGUMENTS[name]
    np.save(tmp_path / "rows.npy", np.array([0, 64], np.int32))
    trace = ran(source, 1, block, arguments, architecture=architecture)
    assert trace.info.schedules[0].why == ""
    loads = loads_before_fp32(trace)
    by_hand = stretch_to(shown(tmp_path, source, architecture), loads[-1])
    assert loads[-len(by_hand) :] == by_hand, "in this order"
    assert len(loads) - len(by_hand) == (2 if name == "spmv" else 0), "the ends of its row, which come before"
    in_ptx = ran(source, 1, block, arguments, form="ptx", architecture=architecture)
    if name != "stencil":
        assert len(by_hand) >= 17, "unrolled"
        assert len(loads_before_fp32(in_ptx)) < len(by_hand) / 2, "PTX has them in the order of the source"
    if name == "spmv":  # what lies at an index is asked for when the index has come
        assert len(by_hand) > most_under_way(trace) > 3 * most_under_way(in_ptx) / 2
    else:
        assert most_under_way(trace) >= len(by_hand)


def test_fewer_registers_leave_fewer_loads_under_way(ran, tmp_path):
    source, block, arguments = ARGUMENTS["gemm"]
    free = ran(source, 1, block, arguments)
    bound = ran(source, 1, block, arguments, options=("-maxrregcount=24",))
    registers = [trace.info.launches[0].registers_per_thread for trace in (free, bound)]
    assert registers[1] <= 24 < registers[0]
    assert most_under_way(bound) < most_under_way(free)
    spilled = [
        sum(int(np.isin(batch.events["kind"], (Kind.LOCAL_LOAD, Kind.LOCAL_STORE)).sum()) for batch in trace.batches())
        for trace in (free, bound)
    ]
    assert spilled[0] == 0
    assert (spilled[1] > 0) == (bound.info.launches[0].spill_bytes_per_thread > 0)


def test_each_instruction_of_straight_code_is_issued_once(ran, tmp_path):
    source, block, arguments = ARGUMENTS["stencil"]
    trace = ran(source, 1, block, arguments)
    issued = sum(
        sum(dict(site.work).values()) + (site.kind in ("async", "store"))
        for site in trace.info.sites
        if site.kind != "shared_array"
    )
    reported = shown(tmp_path, source, 90)
    straight = next(place for place, text in enumerate(reported) if text.startswith("STG")) + 2
    assert issued == straight, "all instructions up to the EXIT behind the store, each once"


CHAIN = """
extern "C" __global__ void f(float a, float b, float* x)
{
    #pragma unroll
    for (int i = 0; i < 64; ++i) a = a * b + 1.0f;
    x[threadIdx.x] = a;
}
"""
LONE = {
    "name": "lone",
    "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
    "scheduling": {"switch": "on-stall"},
    "memory": {"latency": 300, "chunk_words": 32, "stores": "posted", "store_latency": 1},
}


def stalls(tmp_path, architecture):
    """The stall counts of f up to its first EXIT, from the bits behind each instruction."""
    command = [str(find_tool("nvdisasm")), "-c", "-hex", str(tmp_path / "f.cubin")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    halves = re.findall(r"/\*[0-9a-f]{4}\*/\s+([^;]*);[^\n]*\n\s*/\* 0x([0-9a-f]{16}) \*/", text)
    last = next(place for place, (words, _) in enumerate(halves) if words.split()[0] == "EXIT")
    return [max(1, int(high, 16) >> 41 & 15) for _, high in halves[: last + 1]]


@pytest.mark.parametrize("architecture", [75, 90, 120])
@pytest.mark.parametrize("engine", ["reference", "fast"])
def test_a_lone_warp_takes_what_the_stalls_say(architecture, engine, ran, tmp_path):
    trace = ran(CHAIN, 1, 32, ("a=1f", "b=0.5f", "x=zeros:float32:32"), architecture=architecture)
    assert trace.info.schedules[0].why == ""
    shown(tmp_path, CHAIN, architecture)
    expected = stalls(tmp_path, architecture)
    machine = simtmm.Machine.from_dict(LONE)
    result = simtmm.simulate(machine, simtmm.lower(trace, machine), engine=engine)
    assert result.cycles == sum(expected)
    assert sum(expected) >= 4 * 63, "a chain of FFMA takes four cycles each since sm_70"


def test_warps_hide_one_another_s_stalls(ran):
    machine = simtmm.Machine.from_dict(LONE)
    arguments = ("a=1f", "b=0.5f", "x=zeros:float32:256")
    one, four = (
        simtmm.simulate(machine, simtmm.lower(ran(CHAIN, 1, threads, arguments), machine)) for threads in (32, 128)
    )
    slots = one.issued
    assert four.issued == 4 * slots
    # A stretch of code pauses behind its instructions: so warps issue one after another, and pause together.
    assert 4 * slots < four.cycles <= 3 * slots + one.cycles < 2 * one.cycles


def test_a_lone_warp_waits_for_its_loads_where_the_machine_does(ran):
    source, block, arguments = ARGUMENTS["stencil"]
    machine = simtmm.Machine.from_dict(LONE)
    far = machine.replace({"memory.latency": 1300})
    cycles = [
        simtmm.simulate(each, simtmm.lower(ran(source, 1, block, arguments), each)).cycles for each in (machine, far)
    ]
    assert cycles[1] - cycles[0] == 1000, "three loads, under way together"
