"""Forms of PTX that people write: both writings give what they mean, assemblers take them; what is none is refused."""

import subprocess

import numpy as np
import pytest

from simtmm.cuda.compilers import CompiledModule
from simtmm.cuda.compilers.wheels import find_tool
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.instrumentation.module import instrumented
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.ptx import parse_module
from simtmm.errors import CompilerError, DeadlockError, PtxError, RecordingError
from tests.cuda.execution.both import both, execute
from tests.cuda.execution.forms import CALLS, EVERY, THREADS, Form
from tests.cuda.interpreter import DeadlockError as InterpreterDeadlockError
from tests.cuda.interpreter import Memory, run

NO_ANSWER = np.full(THREADS, 0xDEADBEEF, np.uint32)


def _ptxas():
    try:
        return find_tool("ptxas")
    except CompilerError:
        return None


@pytest.mark.parametrize("form", EVERY, ids=lambda form: form.name)
def test_a_form_means_the_same_in_both_writings(form):
    ((executed, interpreted),) = both(form.text, 1, THREADS, NO_ANSWER, quick=True)
    expected = [form.expected(thread) for thread in range(THREADS)]
    assert executed.tolist() == expected
    assert interpreted.tolist() == expected


@pytest.mark.skipif(_ptxas() is None, reason="nvidia-cuda-nvcc is not installed")
def test_ptxas_takes_every_form(tmp_path):
    for form in EVERY:
        (tmp_path / "k.ptx").write_text(form.text, encoding="utf-8")
        command = [_ptxas(), "-O0", f"-arch={form.architecture}", tmp_path / "k.ptx", "-o", tmp_path / "out.cubin"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{form.name}: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("form", CALLS, ids=lambda form: form.name)
def test_sites_are_those_of_what_records_on_a_gpu(form):
    program, found = Program(parse_module(form.text), "k"), instrumented(form.text)
    ends = [*found.first.values(), found.sites]
    for code in program.codes:
        first = found.first[code.function.name]
        count = sum(site.function == code.function.name for site in program.sites)
        assert min(end for end in ends if end > first) - first == count


def _launch(form):
    execute(form.text, 1, THREADS, [NO_ANSWER])


def test_a_pointer_to_a_function_of_another_signature_ends_the_launch():
    body = """.param .b32 a, b; mov.u64 s0, other; st.param.b32 [a], %i;
    P: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), s0, (a), P;"""
    declared = next(form for form in CALLS if form.name == "through a register, beside others").declared
    with pytest.raises(RecordingError, match="calls an address without a function whose arguments and results"):
        _launch(Form("", body, int, declared))


def test_who_never_arrives_at_the_clusters_barrier_is_told():
    form = Form(
        "", "setp.eq.u32 %q, %i, 3; @%q bra ON; barrier.cluster.arrive; ON: barrier.cluster.wait; bar.sync 0;", int
    )
    with pytest.raises(DeadlockError, match=r"63 threads .* for a barrier at .*barrier\.cluster\.wait"):
        _launch(form)
    memory = Memory()
    memory.allocate(NO_ANSWER.copy(), 1 << 20)
    arguments = [(1 << 20).to_bytes(8, "little")]
    with pytest.raises(InterpreterDeadlockError, match=r"barrier\.cluster\.wait"):
        run(parse_module(form.text), "k", (1, 1, 1), (THREADS, 1, 1), arguments, memory)


def test_a_long_instruction_is_named_without_its_middle():
    registers = ", ".join(f"r{number % 8}" for number in range(200))
    with pytest.raises(PtxError) as error:
        Program(parse_module(Form("", f"mov.b64 {{{registers}}}, %p;", int).text), "k").assembly()
    assert "mov.b64 {r0, r1, " in str(error.value)
    assert len(str(error.value)) < 400


def test_clusters_barriers_order_what_is_checked():
    body = """.shared .b32 s[64]; mov.u32 r0, s; mad.lo.u32 r1, %i, 4, r0; st.shared.u32 [r1], %i;
    barrier.cluster.arrive; barrier.cluster.wait; xor.b32 r2, %i, 63; mad.lo.u32 r1, r2, 4, r0;
    ld.shared.u32 %o, [r1];"""
    Program(parse_module(Form("", body, int).text), "k", checks=True).assembly()
    beside = Form("", f"bar.sync 15; {body}", int)  # a barrier of its own, even of the last number
    Program(parse_module(beside.text), "k", checks=True).assembly()


@pytest.mark.parametrize(
    ("body", "why", "declared"),
    [
        (".local .b32 l = 5;", "'l': only .global and .const may have an initialiser", ""),
        ("mov.v2.b32 r0, r1;", "needs 2 registers, but has 1", ""),
        (".reg .v2 .b32 v; .reg .v4 .b32 w; mov.v4.b32 w, v;", "needs 4 registers, but has 2", ""),
        ("mov.b64 {%o, r0, r1}, %p;", "does not accept 3 registers with type .b64", ""),
        ("mov.u32 %o, %tid;", "does not accept 4 registers with type .u32", ""),
        ("mov.u32 %o, 1 +;", "';' is not an operand", ""),
        ("mov.u32 %o, 1 ? 2;", "':' is expected", ""),
        ("mov.u32 %o, 1 / 0;", "a constant is divided by 0", ""),
        ("mov.u32 %o 1;", "',' is expected", ""),
        ("mov.f32 f0, 1.5 + 2;", "both numbers must be whole, or both floating-point", ""),
        ("mov.f32 f0, 1.5 % 2.0;", "needs whole numbers", ""),
        ("ld.global.u32 %o, [%p + 1.5];", "a whole number is expected", ""),
        ("ld.global.u32 %o, %o[1];", "an index must follow an array of one dimension", ""),
        ("ld.global.u32 %o, v[1];", "an index must follow an array of one dimension", ".global .b32 v[2][2];"),
        ("ld.global.u32 %o, [v];", "names v, which is .extern and defined nowhere", ".extern .global .b32 v;"),
        ("L: add.u32 %o, %o, 1; L: add.u32 %o, %o, 1;", "label 'L' appears more than once", ""),
        ("vote.most.pred p0, p1;", "does not accept .most", ""),
        ("barrier.cluster;", "has no form with .cluster", ""),
        ("barrier.cluster.arrive 1;", "has operands that it does not take", ""),
        ("call (%o), f, (1, 2);", "has 2 arguments and 1 results, of 1 and 1", CALLS[0].declared),
        ("call (%o), f;", "has 0 arguments and 1 results, of 1 and 1", CALLS[0].declared),
        ("call (%o);", r"must be call \(results\), function, \(arguments\)", CALLS[0].declared),
        ("call (1), f, (2);", "takes a result in what is no variable of .param", CALLS[0].declared),
        ("call (%o), f, ({%i, %o});", "passes an argument of an unknown form", CALLS[0].declared),
        ("call nothing, (%i);", "calls an undeclared function", ""),
        ("call f, (%q);", "argument or result x is a predicate: must be a number", ".func f (.reg .pred x) { ret; }"),
        (
            ".param .b32 a, b; call (a, b), f;",
            "takes several results in variables of .param",
            ".func (.param .b32 r, .param .b32 s) f () { ret; }",
        ),
        (".param .b64 a; call f, (a);", "passes 8 bytes for x, which has 4", ".func f (.param .b32 x) { ret; }"),
        (
            ".param .b64 a; call (a), f;",
            "takes a result of other bytes than f returns",
            ".func (.param .b32 r) f () { ret; }",
        ),
        (".param .b32 a; call (a), f;", "takes a result of f, which returns none", ".func f () { ret; }"),
        ("", "mask 0x1ff of an address: must be a byte", ".global .b8 v[2] = {0x1ff(k)};"),
        ("", "f: g is not a function", ".alias f, g;"),
        ("", "a declaration lacks its type", ".global v;"),
        ("", "an array of -1 elements", ".global .b32 v[-1];"),
    ],
)
def test_what_is_no_form_is_refused_in_a_line(body, why, declared):
    with pytest.raises(PtxError, match=why) as told:
        Program(parse_module(Form("", body, int, declared).text), "k").assembly()
    assert "\n" not in str(told.value)


def test_a_variable_of_a_body_points_to_what_is_defined():
    linked = LinkedModule([CompiledModule(Form("", ".global .u64 v = nothing; ld.global.u64 %p, [v];", int).text, 90)])
    device = Device()
    with pytest.raises(Exception, match="points to nothing, which is not defined"):
        device.launch(KernelFunction(linked, "k"), DeviceLaunch((1, 1, 1), (1, 1, 1), bytes(8)))
