"""A device's properties: one answer for CUDA programs, CuPy, Numba, Triton and PyTorch, and for launches."""

import dataclasses
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import simtmm
from simtmm.cuda.compilers.wheels import find_nvcc
from simtmm.device import device_properties
from simtmm.device.attributes import ATTRIBUTES
from simtmm.device.host import AT_ONCE
from simtmm.errors import KernelError
from simtmm.programs.program import cuda_program
from simtmm.programs.properties import told_properties
from simtmm.recorder.direct import current
from simtmm.scripts.cupy.cuda import runtime
from simtmm.scripts.cupy.cuda.device import Device
from simtmm.scripts.device_blocks import DeviceBlocks
from simtmm.scripts.numba_cuda.driver import EmulatedDriver
from simtmm.scripts.triton import torch_device
from simtmm.scripts.triton.driver import SimulatedDriver

ROOT = Path(__file__).parents[2]
MACHINES = ROOT / "machines"
NUMBERS = {each.runtime: each.number for each in ATTRIBUTES}
DRIVER_NAMES = {each.runtime: each.driver for each in ATTRIBUTES}


def of_programs():
    told = told_properties(current.properties(), AT_ONCE)
    return {name: told[f"attribute {number}"] for name, number in NUMBERS.items()} | {"memory": told["memory"]}


def of_cupy():
    by_number = {name: runtime.deviceGetAttribute(number) for name, number in NUMBERS.items()}
    assert Device(0).attributes == by_number
    fields = runtime.getDeviceProperties(0)
    for field, name in runtime._FIELDS.items():
        assert fields[field] == by_number[name]
    assert Device(0).mem_info[1] == runtime.memGetInfo()[1]
    return by_number | {"memory": fields["totalGlobalMem"], "name": fields["name"].decode()}


def of_numba():
    driver = EmulatedDriver(SimpleNamespace(CUcontext=int), DeviceBlocks())
    found = {
        name: driver.cuDeviceGetAttribute(SimpleNamespace(name=f"CU_DEVICE_ATTRIBUTE_{other}"), 0)
        for name, other in DRIVER_NAMES.items()
    }
    return found | {"memory": driver.cuMemGetInfo()[1]}


def of_triton():
    told = SimulatedDriver(None, None).utils.get_device_properties(0)
    return {
        "MaxSharedMemoryPerBlockOptin": told["max_shared_mem"],
        "MaxRegistersPerBlock": told["max_num_regs"],
        "MultiProcessorCount": told["multiprocessor_count"],
        "WarpSize": told["warpSize"],
        "ClockRate": told["sm_clock_rate"],
        "MemoryClockRate": told["mem_clock_rate"],
        "GlobalMemoryBusWidth": told["mem_bus_width"],
    }


def of_torch():
    told = torch_device._properties()
    return {
        "name": told.name,
        "memory": told.total_memory,
        "ComputeCapabilityMajor": told.major,
        "ComputeCapabilityMinor": told.minor,
        "MultiProcessorCount": told.multi_processor_count,
        "WarpSize": told.warp_size,
        "MaxThreadsPerMultiProcessor": told.max_threads_per_multi_processor,
        "MaxRegistersPerMultiprocessor": told.regs_per_multiprocessor,
        "MaxSharedMemoryPerBlock": told.shared_memory_per_block,
        "MaxSharedMemoryPerBlockOptin": told.shared_memory_per_block_optin,
        "MaxSharedMemoryPerMultiprocessor": told.shared_memory_per_multiprocessor,
        "L2CacheSize": told.L2_cache_size,
        "ClockRate": told.clock_rate,
    }


@pytest.mark.parametrize("name", sorted(path.stem for path in MACHINES.glob("*.toml")))
def test_all_front_ends_give_one_answer(name):
    machine = simtmm.load_machine(name)
    with simtmm.recording(machine):
        wanted = of_programs() | {"name": machine.name}
        for answers in (of_cupy(), of_numba(), of_triton(), of_torch()):
            assert answers == {key: wanted[key] for key in answers}
    assert wanted["MultiProcessorCount"] == machine.cores.groups
    assert wanted["WarpSize"] == 32
    if machine.resources.shared_memory is not None:
        assert wanted["MaxSharedMemoryPerMultiprocessor"] == machine.resources.shared_memory
        assert wanted["MaxSharedMemoryPerBlockOptin"] <= machine.resources.shared_memory


@pytest.mark.parametrize("name", ["rtx-2080-ti", "p100"])
def test_a_program_is_told_what_scripts_are(name, capfd):
    machine = simtmm.load_machine(name)
    assert cuda_program([ROOT / "tests" / "programs" / "device_properties.cu"]).run(machine).status == 0
    printed = dict(line.split(" ", 1) for line in capfd.readouterr().out.splitlines() if " " in line)
    with simtmm.recording(machine):
        of = current.properties()
    told = {
        "optin": of.shared_per_block_optin, "static": of.shared_per_block, "shared": of.shared_per_multiprocessor,
        "reserved": of.shared_reserved, "registers": of.registers_per_multiprocessor,
        "block_registers": of.registers_per_block, "l2": of.l2_bytes, "bus": of.bus_bits, "warp": of.warp_size,
        "threads": of.threads_per_multiprocessor, "block_threads": of.threads_per_block,
        "blocks": of.blocks_per_multiprocessor, "processors": of.multiprocessors, "constant": of.constant_bytes,
        "major": of.compute_capability[0], "minor": of.compute_capability[1],
    }  # fmt: skip
    assert printed.pop("name") == machine.name
    once = {"memory": of.global_bytes, "clock": of.clock_khz, "memory_clock": of.memory_clock_khz}
    assert {key: int(printed.pop(key)) for key in once} == once
    assert int(printed.pop("counted")) == of.multiprocessors  # %nsmid, as a kernel reads it
    assert printed == {key: f"{value} {value}" for key, value in told.items()}


@pytest.mark.parametrize(
    ("name", "optin"),
    [
        ("gtx280", 16 << 10), ("gtx480", 48 << 10), ("p100", 48 << 10), ("v100", 96 << 10), ("rtx-2080-ti", 64 << 10),
        ("a100-40", 163 << 10), ("rtx-3090", 99 << 10), ("l40", 99 << 10), ("h100-sxm", 227 << 10),
        ("b200", 227 << 10), ("rtx-5090", 99 << 10),
    ],
)  # fmt: skip
def test_shared_memory_of_a_block_is_that_of_cuda_s_table(name, optin):
    """CUDA C++ Programming Guide, Technical Specifications per Compute Capability."""
    assert device_properties(simtmm.load_machine(name), 90).shared_per_block_optin == optin


@pytest.mark.parametrize(("architecture", "optin"), [(75, 64), (80, 163), (86, 99), (90, 227), (120, 99)])
def test_without_a_machine_the_architecture_says_it(architecture, optin):
    found = device_properties(None, architecture)
    assert (found.shared_per_block_optin, found.shared_per_block) == (optin << 10, 48 << 10)


def test_numbers_and_names_are_cuda_s():
    headers = Path(find_nvcc()).parents[1] / "include"
    runtime_text = (headers / "driver_types.h").read_text()
    driver_text = (headers / "cuda.h").read_text()
    runtime_numbers = dict(re.findall(r"cudaDevAttr(\w+)\s*=\s*(\d+)", runtime_text))
    driver_numbers = dict(re.findall(r"CU_DEVICE_ATTRIBUTE_(\w+)\s*=\s*(\d+)", driver_text))
    for each in ATTRIBUTES:
        assert int(runtime_numbers[each.runtime]) == int(driver_numbers[each.driver]) == each.number, each


SOURCE = r"""
extern "C" __global__ void fill(float *out) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void heavy(float *x) {
    float value[96];
    #pragma unroll
    for (int i = 0; i < 96; i++) value[i] = x[i * 1024 + threadIdx.x];
    __syncthreads();
    float sum = 0;
    #pragma unroll
    for (int i = 0; i < 96; i++) { sum = sum * value[i] + value[95 - i]; x[i] = sum; }
}
"""


@pytest.mark.parametrize("name", ["rtx-2080-ti", "rtx-3090", "h100-sxm"])
def test_a_launch_is_held_to_the_shared_memory_that_is_told(name):
    out = np.zeros(32, np.float32)
    with simtmm.recording(simtmm.load_machine(name)):
        kernel = simtmm.RawKernel(SOURCE, "fill")
        most = Device(0).attributes["MaxSharedMemoryPerBlockOptin"]
        with pytest.raises(KernelError, match=rf"= {most + 4}: must be at most {most}$"):
            kernel.max_dynamic_shared_size_bytes = most + 4
        kernel.max_dynamic_shared_size_bytes = most
        kernel((1,), (32,), (out,), shared_mem=most)
        session = current._recording._session
        with pytest.raises(KernelError, match=rf"{most + 4:,} bytes of shared memory: must be at most {most:,}$"):
            session.prepare(kernel._module.image(), kernel.kernel, ((1, 1, 1), (32, 1, 1), most + 4), (out,), "it")
    assert out[0] == 31


def test_a_launch_is_held_to_the_registers_and_threads_that_are_told():
    x = np.zeros((96, 1024), np.float32)
    with simtmm.recording(simtmm.load_machine("gtx580")):
        kernel = simtmm.RawKernel(SOURCE, "heavy")
        most = kernel.max_threads_per_block
        assert 32 <= most < 1024
        kernel((1,), (most,), (x,))
        with pytest.raises(KernelError, match=rf"must be at most {most} threads, as a block may have 32,768 registers"):
            kernel((1,), (most + 1,), (x,))
    with simtmm.recording(simtmm.load_machine("gtx280")):
        out = np.zeros(1024, np.float32)
        light = simtmm.RawKernel(SOURCE, "fill")
        light((1,), (512,), (out,), shared_mem=2048)
        with pytest.raises(KernelError, match=r"block of 544 threads: must be at most 512$"):
            light((1,), (544,), (out,), shared_mem=4096)


def test_an_h100_tells_what_one_told():
    """An NVIDIA H100 80GB HBM3; name and memory are the machine's and this computer's."""
    told = (Path(__file__).parent / "device_properties_h100.txt").read_text().splitlines()
    with simtmm.recording("h100-sxm"):
        of = current.properties()
    wanted = dict(line.split(" ", 1) for line in told if not line.startswith("#"))
    found = {
        "optin": of.shared_per_block_optin, "static": of.shared_per_block, "shared": of.shared_per_multiprocessor,
        "reserved": of.shared_reserved, "registers": of.registers_per_multiprocessor,
        "block_registers": of.registers_per_block, "l2": of.l2_bytes, "clock": of.clock_khz,
        "memory_clock": of.memory_clock_khz, "bus": of.bus_bits, "warp": of.warp_size,
        "threads": of.threads_per_multiprocessor, "block_threads": of.threads_per_block,
        "blocks": of.blocks_per_multiprocessor, "processors": of.multiprocessors, "constant": of.constant_bytes,
    }  # fmt: skip
    assert {key: wanted[key] for key in found} == {key: str(value) for key, value in found.items()}


def test_another_bandwidth_has_another_memory_clock():
    machine = simtmm.load_machine("h100-sxm")
    twice = device_properties(machine.model_copy(update={"peak_bandwidth": 2 * machine.peak_bandwidth}), 90)
    assert twice.bus_bits == 5120
    assert twice.memory_clock_khz == pytest.approx(2 * 2_619_000, rel=0.01)


@pytest.mark.parametrize("wide", [32, 64])
@pytest.mark.parametrize(("unit", "files"), [(0, 1), (256, 4), (512, 2), (1024, 1)])
def test_a_multiprocessor_holds_blocks_until_the_next_has_no_room(wide, unit, files):
    """Put in one after another, warp by warp: each into a file of registers that has room for it."""
    usual = device_properties(simtmm.load_machine("gtx480"), 80)
    told = dataclasses.replace(
        usual, warp_width=wide, register_unit=unit, register_files=files, threads_per_multiprocessor=1552,
        blocks_per_multiprocessor=13, registers_per_multiprocessor=40_100, registers_per_block=40_100,
        threads_per_block=1024, shared_per_multiprocessor=50_000, shared_per_block_optin=49_000, shared_reserved=100,
        shared_unit=128, registers_per_thread=255,
    )  # fmt: skip
    assert told.warps_per_multiprocessor == {32: 48, 64: 24}[wide]  # and half a warp that is none

    def put_in(threads, registers, shared):
        warps = math.ceil(threads / wide)
        free = [told.registers_per_multiprocessor / files // 1] * files
        left, memory = told.warps_per_multiprocessor, told.shared_per_multiprocessor
        for blocks in range(told.blocks_per_multiprocessor):
            left -= warps
            memory -= math.ceil(shared / told.shared_unit) * told.shared_unit + told.shared_reserved if shared else 0
            of_warps = [registers * wide] * warps if unit else [registers * threads]
            for needed in of_warps:
                roomiest = free.index(max(free))
                free[roomiest] -= math.ceil(needed / unit) * unit if unit else needed
            if left < 0 or memory < 0 or min(free) < 0:
                return blocks
        return told.blocks_per_multiprocessor

    cases = [
        (threads, registers, shared)
        for threads in (1, wide - 1, wide, wide + 1, 96, 128, 200, 512, 776, 1024)
        for registers in (0, 1, 8, 9, 32, 33, 63, 64)
        for shared in (0, 1, 128, 129, 3_700, 16_500, 24_900, 49_000)
    ]
    found = [told.resident_blocks(*case) for case in cases]
    assert found == [put_in(*case) for case in cases]
    assert len(set(found)) > 8


@pytest.mark.parametrize(("unit", "threads"), [(0, 609), (256, 15 * 32)])  # 20,100 / 33; 20,100 / 1,280 of a warp
def test_a_blocks_registers_are_enough_for_whole_warps_where_they_come_in_units(unit, threads):
    usual = device_properties(simtmm.load_machine("gtx480"), 80)
    told = dataclasses.replace(
        usual, warp_width=32, register_unit=unit, register_files=4 if unit else 1, registers_per_multiprocessor=65_536,
        registers_per_block=20_100, threads_per_block=1024, registers_per_thread=255,
    )  # fmt: skip
    assert told.most_threads(33) == threads
    told.check_registers(33, threads, "k")
    with pytest.raises(KernelError, match=rf"^k: a block of {threads + 1} threads of 33 registers: must be at most"):
        told.check_registers(33, threads + 1, "k")
    told.check_registers(255, 1, "k")
    with pytest.raises(KernelError, match=r"^k: 256 registers of a thread: must be at most 255$"):
        told.check_registers(256, 1, "k")
