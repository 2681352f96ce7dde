"""What threads must not do: the line of source, the instruction, block, thread, and where it was."""

import re
import signal

import pytest

from simtmm import record
from simtmm.cuda import device
from simtmm.cuda.disagreement import comparison
from simtmm.errors import LivelockError, NoProgressError, RecordingError
from simtmm.recorder.compiled.cuda_file import cuda_program
from tests.cuda.execution.kernels import kernel

HEAD = "kernel k: launch 0 of f: k.cu:3: `{text}` ("


def fault(refused, statement, arguments=("x=zeros:float32:32",), signature="float* x", block=32, **what):
    """What is said behind the place, for a statement in line 3."""
    message = refused(f"__global__ void f({signature})\n{{\n    {statement}\n}}\n", 1, block, arguments, **what)
    head = HEAD.format(text=statement)
    assert message.startswith(head), message
    instruction, rest = message.removeprefix(head).split("), ", 1)
    assert re.fullmatch(r"[\w.:]+, PTX line \d+", instruction)
    return instruction.split(",")[0], rest


@pytest.mark.parametrize(
    ("statement", "instruction", "said"),
    [
        ("x[threadIdx.x + 1] = 1;", "st.global.u32",
         "thread (31, 0, 0): writes 4 bytes at index 32 of x, which has 32 elements (float32): out of bounds"),
        ("x[0] = x[(int)threadIdx.x - 1];", "ld.global.f32",
         "thread (0, 0, 0): reads 4 bytes at index -1 of x, which has 32 elements (float32): out of bounds"),
        ("atomicAdd(x + 32 * threadIdx.x, 1.0f);", "atom.global.add.f32",
         "thread (1, 0, 0): updates 4 bytes at index 32 of x, which has 32 elements (float32): out of bounds"),
        ("*(float*)((char*)x + threadIdx.x) = 1;", "st.global.u32",
         "thread (1, 0, 0): writes 4 bytes at index 0 and 1 bytes of x, which has 32 elements (float32), which is not "
         "a multiple of 4: misaligned"),
    ],
)  # fmt: skip
def test_an_array_left_or_read_askew_is_reported_with_its_index(refused, statement, instruction, said):
    found, rest = fault(refused, statement)
    assert rest == f"block (0, 0, 0), {said}"
    assert found.split(".")[0] in (instruction.split(".")[0], "red")


def test_the_null_pointer_is_called_so(refused):
    _, rest = fault(refused, "x[0] = 1;", ["x=0"])
    assert rest.endswith("thread (0, 0, 0): writes 4 bytes at the null pointer: out of bounds")


def test_shared_memory_that_is_left_is_reported_with_its_size(refused):
    statement = "extern __shared__ float s[]; s[threadIdx.x] = x[0]; x[1] = s[31 - threadIdx.x];"
    _, rest = fault(refused, statement, shared=64)
    assert rest.endswith(
        "thread (16, 0, 0): writes 4 bytes at byte 64 of shared memory, which has 64 bytes: out of bounds"
    )


def test_a_launch_without_dynamic_shared_memory_is_told_of_the_option(refused):
    _, rest = fault(refused, "extern __shared__ float s[]; s[threadIdx.x] = x[0]; x[1] = s[31 - threadIdx.x];")
    assert rest.endswith(
        "writes 4 bytes at byte 0 of shared memory, which has 0 bytes (its launch gives no dynamic shared memory: "
        "--shared, shared_mem= or a number in the launch's brackets): "
        "out of bounds"
    )


def test_local_memory_that_is_left_is_reported(refused):
    statement = "volatile float own[4]; own[n] = x[0]; x[1] = own[n - 1];"
    _, rest = fault(refused, statement, ["x=zeros:float32:32", "n=400"], "float* x, int n")
    assert re.search(r"writes 4 bytes at byte \d+ of local memory, which has [\d,]+ bytes: out of bounds", rest)


def test_a_trap_is_reported(refused):
    assert fault(refused, "if (threadIdx.x == 3) __trap();")[1] == "block (0, 0, 0), thread (3, 0, 0): trap"


def test_a_function_that_calls_itself_for_ever_fills_the_stack(refused):
    source = (
        "__device__ __noinline__ int deep(int n)\n{\n    volatile int own[64];\n    own[n & 63] = n;\n"
        "    return n == -1 ? 0 : deep(n + 1) + own[n + 3 & 63];\n}\n"
        "__global__ void f(int* x) { x[0] = deep(x[0]); }\n"
    )
    message = refused(source, 1, 1, ["x=zeros:int32:1"])
    assert "k.cu:" in message
    assert message.endswith("the stack is full: does the function call itself for ever?")


def test_an_assertion_is_reported_with_its_text(refused):
    message = refused("#include <cassert>\n__global__ void f(int* x) { assert(x[0] == 7); }", 1, 1, ["x=zeros:int32:1"])
    assert "x[0] == 7" in message
    assert "k.cu:2" in message or "k.cu" in message


def test_threads_that_wait_at_different_barriers_for_ever_are_named(refused):
    source = """__global__ void f(int* x)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 2, 64;");
    x[0] = 1;
}
"""
    message = refused(source, 1, 64, ["x=zeros:int32:1"])
    assert message.startswith("kernel k: launch 0 of f: deadlock in block (0, 0, 0): no thread can continue: ")
    assert '32 threads (the first: 0) for a barrier at k.cu:4: `asm volatile("bar.sync 1, 64;");`' in message
    assert '32 threads (the first: 32) for a barrier at k.cu:6: `asm volatile("bar.sync 2, 64;");`' in message


def test_a_lane_that_left_a_shuffle_of_its_warp_is_waited_for_and_named(refused):
    source = """__global__ void f(int* x)
{
    if (threadIdx.x == 5) { __syncthreads(); return; }
    x[threadIdx.x] = __shfl_sync(~0u, x[threadIdx.x], 5);
    __syncthreads();
}
"""
    message = refused(source, 1, 32, ["x=zeros:int32:32"])
    assert "deadlock in block (0, 0, 0)" in message
    assert "31 threads (the first: 0) for others of its warp at k.cu:4" in message


@pytest.fixture
def soon_given_up(monkeypatch):
    """Machine code and PTX are compared for a moment alone, which is all in vain where neither ends."""
    monkeypatch.setattr(comparison, "SECONDS", 0.1)


def test_a_loop_without_end_runs_into_the_limit_of_events(tmp_path, monkeypatch, soon_given_up):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(
        "__global__ void f(volatile int* x)\n{\n    for (;;) x[threadIdx.x] = x[threadIdx.x] + 1;\n}\n"
    )  # fmt: skip
    with pytest.raises(RecordingError) as caught:
        record(cuda_program("k.cu", 1, 32, ["zeros:int32:32"]), most_events=100_000)
    assert str(caught.value).startswith("kernel k: launch 0 of f: more than 100,000 events, the limit")
    assert "does it loop for ever?" in str(caught.value)


def test_a_loop_that_touches_nothing_runs_into_the_limit_of_memory(tmp_path, monkeypatch, soon_given_up):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMTMM_KERNEL_MEMORY", "20000000")
    (tmp_path / "k.cu").write_text(
        '__global__ void f(int* x)\n{\n    int t;\n    for (;;) asm volatile("mov.u32 %0, %clock;" : "=r"(t));\n}\n'
    )
    with pytest.raises(RecordingError, match=r"fill 20,000,000 bytes of memory: do they loop for ever\?"):
        record(cuda_program("k.cu", 1, 32, ["zeros:int32:32"]))


ENDLESS = """.version 8.4
.target sm_80
.address_size 64
.visible .entry f(.param .u64 a)
{
    .reg .b64 %t;
    .reg .pred %p;
again:
    mov.u64 %t, %clock64;
    setp.ne.u64 %p, %t, 0;  // without it the assembler drops the clock, and what is left is proved a livelock
    @%p bra again;
    ret;
}
"""


def test_a_loop_that_looks_at_the_clock_alone_ends_with_an_interrupt(tmp_path, monkeypatch):
    """It has no event that could fill anything. The interrupt comes when it runs, however long compiling it takes."""
    right = device.run

    def interrupted(*arguments, **more):
        signal.alarm(1)
        yield from right(*arguments, **more)

    monkeypatch.setattr(device, "run", interrupted)

    def interrupt(_, frame):
        while frame is not None:
            if frame.f_code.co_name == "__del__":  # Python would drop the interrupt there, and go on
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                return
            frame = frame.f_back
        raise KeyboardInterrupt

    (tmp_path / "k.ptx").write_text(ENDLESS)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            record(cuda_program(tmp_path / "k.ptx", 1, 32, ["zeros:int32:32"]))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("loop", ["$L: bra $L;", "$L: add.s32 %r1, %r1, 3; bra $L;"])
def test_a_loop_that_nothing_ends_is_told(tmp_path, loop):
    path = tmp_path / "k.ptx"
    path.write_text(kernel(loop, 0, ".reg .b32 %r<2>;"))
    with pytest.raises(
        LivelockError, match=rf"for ever at {re.escape(str(path))} \(bra, PTX line \d+\), which does not depend"
    ):
        record(cuda_program(path, 1, 32, []), form="ptx")


@pytest.mark.parametrize(
    ("loop", "first"),
    [
        ("$L: mov.u64 %rd1, %clock64; bra $L;", "mov.u64"),  # a clock,
        ("$L: nanosleep.u32 20; ld.volatile.global.u32 %r1, [%p0]; bra $L;", "nanosleep.u32"),  # a nap and loads,
        ("$L: ld.global.u32 %r1, [%p0]; add.u32 %r2, %r2, 1; st.global.u32 [%p0], %r1; setp.ne.u32 %q, %r2, 0;"
         "@%q bra $L; bra $L;", "ld.global.u32"),  # stores of what is there
        ("$L: mov.u32 %r1, %clock; atom.global.cas.b32 %r2, [%p0], 5, 6; bra $L;", "mov.u32"),  # updates of nothing
    ],
)  # fmt: skip
def test_a_loop_that_changes_nothing_is_ended_at_the_limit(tmp_path, monkeypatch, loop, first):
    monkeypatch.setenv("SIMTMM_KERNEL_TIMEOUT", "0.3")
    path = tmp_path / "k.ptx"
    path.write_text(kernel(loop, 1, ".reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .pred %q;"))
    with pytest.raises(NoProgressError) as told:
        record(cuda_program(path, 1, 32, ["zeros:int32:1"]), form="ptx")
    assert re.fullmatch(
        rf"kernel k: launch 0 of k: {re.escape(str(path))} \({re.escape(first)}, PTX line \d+\): for 0\.3 s, "
        r"no block ended and no store changed memory, so it was stopped: does it loop for ever\? If not, .* "
        r"raise the limit \(--kernel-timeout, SIMTMM_KERNEL_TIMEOUT\)",
        str(told.value),
    )


def test_a_block_that_goes_on_storing_is_not_ended_however_long_it_takes(tmp_path, monkeypatch):
    """Many times the limit; and all is recorded, watched or not."""
    path = tmp_path / "k.ptx"
    path.write_text(
        kernel(
            "$L: add.u32 %r1, %r1, 1; atom.global.add.u32 %r2, [%p0], 1; st.volatile.global.u32 [%p0], %r1;"
            "setp.lt.u32 %q, %r1, 50000; @%q bra $L;",
            1, ".reg .b32 %r<3>; .reg .pred %q;",
        )
    )  # fmt: skip
    plain = record(cuda_program(path, 1, 1, ["zeros:int32:1"]), form="ptx")
    monkeypatch.setenv("SIMTMM_KERNEL_TIMEOUT", "0.0001")
    assert record(cuda_program(path, 1, 1, ["zeros:int32:1"]), form="ptx").info.digest == plain.info.digest


def test_a_loop_that_computes_for_long_between_its_accesses_is_recorded(tmp_path, monkeypatch):
    """Ten turns of its warp and one event more."""
    monkeypatch.setenv("SIMTMM_KERNEL_TIMEOUT", "60")
    path = tmp_path / "k.ptx"
    rounds = 10 << 18
    path.write_text(
        kernel(
            f"$L: add.s32 %r1, %r1, 1; setp.lt.s32 %q, %r1, {rounds}; @%q bra $L; st.global.b32 [%p0], %r1;",
            1, ".reg .b32 %r<2>; .reg .pred %q;",
        )
    )  # fmt: skip
    trace = record(cuda_program(path, 1, 1, ["zeros:int32:1"]), form="ptx")
    assert trace.info.events < 10


@pytest.mark.parametrize("barrier", ["bar.sync", "bar.arrive", "bar.red.popc.u32"])
def test_a_barrier_that_no_block_has_ends_the_launch(tmp_path, barrier):
    """Its number is in a register, which 16 of the threads have none in: of those that take part, the first one's."""
    path = tmp_path / "k.ptx"
    to, last = ("%r3, ", ", %all") if "red" in barrier else ("", "")
    path.write_text(
        kernel(
            f"add.s32 %r1, %lane, 15; setp.gt.s32 %q, %r1, 15; setp.eq.s32 %all, 0, 0;"
            f"@%q {barrier} {to}%r1, 32{last};",
            0, ".reg .b32 %r<4>; .reg .pred %q; .reg .pred %all;",
        )
    )  # fmt: skip
    with pytest.raises(RecordingError, match=r"thread \(1, 0, 0\): names barrier 16: must be 0 to 15"):
        record(cuda_program(path, 1, 32, []), form="ptx")


def test_a_barrier_that_nobody_comes_to_may_have_any_number(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_text(
        kernel(
            "add.s32 %r1, %lane, 99; setp.lt.s32 %q, %r1, 0; @%q bar.sync %r1; st.global.b32 [%p0], %r1;",
            1, ".reg .b32 %r<4>; .reg .pred %q;",
        )
    )  # fmt: skip
    assert record(cuda_program(path, 1, 32, ["zeros:int32:1"]), form="ptx").info.events
