"""A program with a template, launched twice, beside profiles of it: each launch and line meets its own.

All profiles here are written by hand, as if a GPU had counted what simtmm does or something else that is said: no GPU
printed them.
"""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from simtmm import explain, run
from simtmm.analysis.nsight import beside
from simtmm.device.host import OUT, host_of
from simtmm.errors import OutputError, StudyError
from simtmm.measurement.contributed import load_contributed
from simtmm.measurement.nsight import load_profile
from simtmm.report.explain_page import explanation
from simtmm.report.nsight import describe_beside, measured_lines
from tests.cuda.compilers.conftest import needs_nvcc
from tests.report.test_explain_page import data_of

pytestmark = needs_nvcc

SOURCE = """\
namespace a {
template <int P> __global__ void tile(const float* in, float* out)
{
    __shared__ float t[32][32 + P];
    t[threadIdx.y][threadIdx.x] = in[32 * threadIdx.y + threadIdx.x];
    __syncthreads();
    out[32 * threadIdx.y + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
}
__global__ void twice(float* x) { x[256 * blockIdx.x + threadIdx.x] *= 2; }
int main()
{
    float *x, *y;
    cudaMalloc(&x, 4096);
    cudaMalloc(&y, 4096);
    cudaMemset(x, 0, 4096);
    float g[4], *h;
    cudaMallocHost(&h, 4096);
    cudaMemcpy(x, g, 16, cudaMemcpyHostToDevice);
    cudaMemcpy(y, x, 4096, cudaMemcpyDeviceToDevice);
    for (int i = 0; i < 2; ++i) cudaMemcpy(h, x, 4096 >> i, cudaMemcpyDeviceToHost);
    a::tile<0><<<1, dim3(32, 32)>>>(x, y);
    a::tile<1><<<1, dim3(32, 32)>>>(x, y);
    twice<<<4, 256>>>(x);
    twice<<<4, 256>>>(x);
    cudaFreeHost(h);
    cudaFree(x);
    cudaFree(y);
}
"""
LINES = SOURCE.splitlines()


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    path = tmp_path_factory.mktemp("beside") / "t.cu"
    path.write_text(SOURCE)
    return run(path, "h100-sxm", what_if=False)


@pytest.fixture
def compared(ran, tmp_path):
    def call(*texts):
        paths = []
        for number, text in enumerate(texts):
            paths.append(tmp_path / f"{number}.csv")
            paths[-1].write_text(text)
        return beside(ran, load_profile(paths))

    return call


def raw(*launches):
    head = '"ID","Kernel Name","Grid Size","Block Size","smsp__inst_executed.sum"\n"","","","","inst"\n'
    return head + "".join(
        f'"{n}","{name}","{grid}","{block}","{count}"\n' for n, (name, grid, block, count) in enumerate(launches)
    )


TILE_SHAPE, TWICE_SHAPE = ("(1, 1, 1)", "(32, 32, 1)"), ("(4, 1, 1)", "(256, 1, 1)")


def test_launches_of_all_instances_match_in_order(compared):
    found = compared(
        raw(
            ("void a::tile<(int)0>(const float *, float *)", *TILE_SHAPE, 100),
            ("void a::tile<(int)1>(const float *, float *)", *TILE_SHAPE, 200),
            ("twice(float *)", *TWICE_SHAPE, 300),
        )
    )
    assert [(launch.number, launch.kernel) for launch in found.launches] == [
        (0, "a::tile<(int)0>"), (1, "a::tile<(int)1>"), (2, "twice"),
    ]  # fmt: skip
    assert [each.measured for launch in found.launches for each in launch.compared] == [100, 200, 300]


def test_one_of_two_instances_is_not_guessed(compared):
    """Its launch has the name of the function alone: it might be either."""
    with pytest.raises(StudyError, match=r"tile 1x1x1 of 32x32x1: 1 launches .* 2 of 2 simulated: which is which\?"):
        compared(raw(("void a::tile<1>(const float *, float *)", *TILE_SHAPE, 200)))


def test_instances_are_told_apart_by_the_arguments_of_their_templates(compared):
    """Those of functions are the same."""
    names = [f"void a::tile<{number}>(const float *, float *)" for number in (0, 1, 0)]
    with pytest.raises(StudyError, match=r"tile 1x1x1 of 32x32x1: 3 launches of 2 instances of the template"):
        compared(raw(*((name, *TILE_SHAPE, 1) for name in names)))


def test_a_kernel_of_another_namespace_or_shape_is_left_out(compared):
    found = compared(
        raw(
            ("b::twice(float *)", *TWICE_SHAPE, 1),
            ("twice(float *)", "(8, 1, 1)", "(256, 1, 1)", 2),
            ("twice(float *)", *TWICE_SHAPE, 3),
        )
    )
    assert [each.measured for launch in found.launches for each in launch.compared] == [3]
    assert found.left_out == ("b::twice", "twice")


def test_a_profile_of_another_program_is_refused(compared):
    with pytest.raises(StudyError, match="no measured launch matches this run: measured other 1x1x1"):
        compared(raw(("other(int)", *TILE_SHAPE, 1)))


SUMS = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"


def test_times_of_a_kernels_launches_stand_beside_their_sums(compared, ran):
    (found,) = compared(f"{SUMS}100.0,6000,2,3000.0,3000.0,2000,4000,1000.0,twice(float *)\n").sums
    assert (found.kernel, found.launches, found.measured_launches) == ("twice", 2, 2)
    values = {each.name: each for each in found.compared}
    assert values["total"].measured == pytest.approx(6e-6)
    assert values["total"].simulated == pytest.approx(2 * values["mean"].simulated)
    assert values["least"].simulated <= values["median"].simulated <= values["most"].simulated


def test_a_total_of_other_launches_is_not_compared(compared):
    (found,) = compared(f"{SUMS}100.0,30000,10,3000.0,3000.0,2000,4000,1000.0,twice\n").sums
    assert {each.name for each in found.compared} == {"mean", "median", "least", "most"}


def test_sums_of_instances_that_have_one_name_here_are_refused(compared):
    with pytest.raises(StudyError, match=r"0.csv:2: Name = 'a::tile<0>': .* give a trace"):
        compared(f"{SUMS}100.0,3000,1,3000.0,3000.0,3000,3000,0.0,a::tile<0>\n")


@pytest.fixture
def exported(tmp_path):
    """A file of each kind, by what it is of."""
    texts = {
        "launch": raw(("twice(float *)", *TWICE_SHAPE, 300)),
        "line": page("twice(float *)", [(10, 5, 300, 0)]),
        "kernel": f"{SUMS}100.0,6000,2,3000.0,3000.0,2000,4000,1000.0,twice(float *)\n",
        "copy": f"{COPIES}60.0,9000,2,4500.0,4500.0,4000,5000,500.0,[CUDA memcpy Device-to-Host]\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return {name: tmp_path / f"{name}.csv" for name in texts}


def test_a_run_is_compared_in_python_row_by_row(ran, exported):
    found = ran.beside(*exported.values())
    assert repr(found) == "Beside(launches: 1, lines: 1, kernels: 1, copies: 1)"
    frame = found.to_frame()
    assert dict(frame["of"].value_counts()) == {"launch": 1, "line": 3, "kernel": 5, "copy": 4}
    (launch,) = found.rows("launch")
    simulated = ran.result.launches[2]["instructions"]
    assert launch == {
        "of": "launch", "kernel": "twice", "launch": 2, "file": None, "line": None, "source": None,
        "quantity": "instructions", "unit": "count", "simulated": simulated, "measured": 300,
        "error": pytest.approx(simulated / 300 - 1),
    }  # fmt: skip
    assert {(row["line"], row["source"]) for row in found.rows("line")} == {(10, LINES[9])}
    assert {row["unit"] for row in found.rows("kernel") + found.rows("copy")} == {"s"}
    assert [row["unit"] for row in found.rows("line")] == ["share", "count", "count"]
    assert "error" in frame
    lines = found.to_frame("line")
    assert "launch" not in lines
    assert lines["line"].tolist() == [10, 10, 10]  # whole, beside rows of launches too
    assert frame["line"].dropna().tolist() == [10, 10, 10]


def test_the_comparison_is_shown_in_a_notebook_and_kept_as_rows(ran, exported, tmp_path):
    found = ran.beside(exported["launch"], exported["line"], keep_row=tmp_path / "rows.csv")
    titles = [each.text for each in ElementTree.fromstring(found._repr_html_()).iter("caption")]
    assert titles == ["Launch 2 of twice, compared with Nsight Compute", "Lines of twice, compared with Nsight Compute"]
    (row,) = load_contributed(tmp_path / "rows.csv")
    assert (row.kernel, row.quantity, row.measured) == ("twice", "instructions", 300)


def test_what_explains_a_run_shows_what_was_measured_of_lines(tmp_path, exported):
    path = tmp_path / "t.cu"
    path.write_text(SOURCE)
    found = explain(path, "h100-sxm", what_if=False, timeline=False, nsight=exported["line"])
    hot = data_of(found.html())["heat"]["hot"]
    (profiled,) = [each["profiled"] for each in hot if "profiled" in each]
    assert (profiled[1][0], profiled[1][2]) == ("instructions of warps", "600")
    found.save(tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_text())
    assert document["nsight"] == json.loads(json.dumps(found.beside.to_dict()))
    with pytest.raises(StudyError, match=r"none\.csv: can't be read"):  # before anything is recorded
        explain(tmp_path / "absent.cu", nsight=[tmp_path / "none.csv"])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda run, files: run.beside(), StudyError, "files: none given: must be at least one CSV file"),
        (lambda run, files: run.beside([files["line"]]), StudyError, "each must be a path to a CSV file"),
        (
            lambda run, files: run.beside(files["line"], keep_row="rows.txt"),
            OutputError, r"keep_row = 'rows.txt': must end in \.csv",
        ),
        (
            lambda run, files: run.beside(files["line"]).rows("lines"),
            OutputError, "of = 'lines': must be one of launch, line, kernel, copy; did you mean 'line'",
        ),
    ],
)  # fmt: skip
def test_what_python_can_not_compare_is_one_line(call, error, words, ran, exported):
    with pytest.raises(error, match=words):
        call(ran, exported)


COPIES = "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n"


def test_copies_stand_beside_those_that_the_program_made(compared, ran):
    text = (
        f"{COPIES}60.0,9000,2,4500.0,4500.0,4000,5000,500.0,[CUDA memcpy Device-to-Host]\n"
        "30.0,4000,3,1333.3,1333.3,1333,1334,0.5,[CUDA memcpy DtoD]\n10.0,900,1,900.0,900.0,900,900,0.0,[CUDA memset]\n"
    )
    to_host, within = compared(text).copies
    both = [host_of(ran.machine).engine(OUT, size) for size in (4096, 2048)]
    values = {each.name: (each.simulated, each.measured) for each in to_host.compared}
    assert values["total"] == (pytest.approx(sum(both)), pytest.approx(9e-6))
    assert values["least"] == (pytest.approx(both[1]), pytest.approx(4e-6))
    assert (within.copies, within.measured_copies, within.compared) == (1, 3, ())


def test_copies_of_pageable_memory_are_counted_and_not_timed(compared):
    (copies,) = compared(f"{COPIES}10.0,900,1,900.0,900.0,900,900,0.0,[CUDA memcpy Host-to-Device]\n").copies
    assert (copies.copies, copies.measured_copies, copies.compared) == (1, 1, ())


@pytest.mark.parametrize("copies", [3, [3], [{}], [{"direction": 1, "is_pinned": 0, "bytes": 1, "number": 1}], "x"])
def test_a_trace_that_lists_copies_in_another_form_has_none(copies, ran, tmp_path):
    (tmp_path / "f.csv").write_text(f"{COPIES}10.0,900,1,900.0,900.0,900,900,0.0,[CUDA memcpy DtoH]\n")
    odd = replace(ran, info=replace(ran.info, provenance={**ran.info.provenance, "copies": copies}))
    with pytest.raises(StudyError, match="no measured kernel matches this run: measured only copies"):
        beside(odd, load_profile([tmp_path / "f.csv"]))


def page(name, rows, head='"#","Source","# Samples","Instructions Executed","L1 Wavefronts Shared"'):
    above = f'"Kernel Name","{name}"\n"File Path","/somewhere/else/t.cu"\n' if name else ""
    return f"{above}{head}\n" + "".join(
        f'"{line}","{LINES[line - 1]}","{samples}","{count}","{waves}"\n' for line, samples, count, waves in rows
    )


def test_lines_of_an_instance_are_its_own(compared):
    """32 warps store rows and load columns of 32: of one bank in tile<0>, without a conflict in tile<1>."""
    for padding, waves in ((0, 32 * 32), (1, 32)):
        name = f"void a::tile<{padding}>(const float *, float *)"
        (kernel,) = compared(page(name, [(5, 1, 9, 32), (7, 3, 9, waves)])).kernels
        assert (kernel.launches, kernel.measured_launches) == (1, 1)
        lines = {line.line: {each.name: each for each in line.compared} for line in kernel.lines}
        assert lines[5]["shared_wavefronts"].simulated == 32
        assert lines[7]["shared_wavefronts"].simulated == lines[7]["shared_wavefronts"].measured == waves
        assert lines[7]["samples"].measured == 0.75


def test_counts_of_one_launch_are_scaled_to_launches_that_are_alike(compared):
    (kernel,) = compared(page("twice(float *)", [(10, 5, 300, 0)])).kernels
    assert (kernel.launches, kernel.measured_launches) == (2, 1)
    (line,) = kernel.lines
    counted = {each.name: each for each in line.compared}
    assert counted["instructions"].measured == 600
    assert counted["samples"].measured == 1


def test_a_line_with_another_text_is_refused(compared):
    text = page("twice(float *)", [(10, 5, 300, 0)]).replace("*= 2", "*= 3")
    with pytest.raises(StudyError, match=r"0.csv:4: line 10 = .*\*= 3.*: must be the source here, .*\*= 2"):
        compared(text)


def test_lines_of_other_files_are_left_out(compared):
    text = page("twice(float *)", [(10, 5, 300, 0)]) + page("twice(float *)", [(5, 1, 1, 1)]).replace("t.cu", "m.hpp")
    (kernel,) = compared(text).kernels
    assert kernel.left_out == ("m.hpp:5",)


def test_a_page_without_a_kernels_name_needs_a_run_of_one(compared):
    with pytest.raises(StudyError, match="the page names no kernel, and 3 ran"):
        compared(page("", [(10, 5, 300, 0)]))


def code(ran, kernel, change=lambda texts: texts):
    (listing,) = [each for each in ran.info.listings if each.code == "sass" and each.kernel == kernel]
    rows = "".join(f'"{n}","{n:x}0","{text}","1","2"\n' for n, text in enumerate(change(listing.texts)))
    return (
        f'"Kernel Name","{kernel}(float *)"\n"#","Address","Source","# Samples","Instructions Executed"\n{rows}',
        listing,
    )


def test_machine_code_that_is_ours_is_added_up_by_line(compared, ran):
    text, listing = code(ran, "twice")
    (kernel,) = compared(text).kernels
    of_line = sum(place[1] == 10 for place in listing.places)
    assert {line.line: line.compared[1].measured for line in kernel.lines} == {10: 2 * of_line * 2}
    assert kernel.left_out in ((), ("no line",))


def test_two_views_of_a_kernel_are_not_added_up(compared, ran):
    text, _ = code(ran, "twice")
    (kernel,) = compared(page("twice(float *)", [(10, 5, 300, 0)]), text).kernels
    assert [each.measured for each in kernel.lines[0].compared] == [1, 600, 0]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda texts: ["FADD R1", *texts[1:]], "0.csv:3: 'FADD R1'"),
        (lambda texts: [*texts[:-1], "FADD R1"], "'FADD R1'"),
        (lambda texts: texts[:3], "0.csv:5: .*'"),
        (lambda texts: [*texts, "NOP", "FADD R1"], ".*'"),
    ],
    ids=["the first", "the last", "fewer", "more"],
)
def test_other_machine_code_is_refused(compared, ran, change, told):
    text, _ = code(ran, "twice", change)
    with pytest.raises(StudyError, match=rf"{told}: the machine code differs .* --print-source cuda"):
        compared(text)


def test_what_fills_machine_code_up_is_no_difference(compared, ran):
    text, _ = code(ran, "twice", lambda texts: [*texts, "NOP", "BRA 0x10"])
    assert compared(text).kernels


def test_the_terminal_json_and_the_page_show_lines(compared, ran):
    found = compared(page("twice(float *)", [(10, 5, 300, 0)]))
    _, shown, note = describe_beside(found)
    assert str(shown.title) == "Lines of twice, compared with Nsight Compute"
    assert note == "Measured in 1 of 2 launches; counts are scaled to all of them."
    document = json.loads(json.dumps(found.to_dict()))
    (line,) = document["kernels"][0]["lines"]
    assert (line["line"], line["instructions"]["measured"]) == (10, 600)
    hot = data_of(explanation(ran, profiled=measured_lines(found)))["heat"]["hot"]
    (profiled,) = [each["profiled"] for each in hot if "profiled" in each]
    assert (profiled[1][0], profiled[1][2]) == ("instructions of warps", "600")
    assert all("profiled" not in each for each in data_of(explanation(ran))["heat"]["hot"])
