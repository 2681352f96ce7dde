"""Programs: one way from what a user names to what is simulated and counted."""

import json

import pytest

from simtmm import Machine, count, load_machine, load_trace, load_workload, lower
from simtmm.errors import KernelError, TraceError, WorkloadError
from simtmm.program import kind_of, open_program, shipped_trace

SMALL = load_machine("gtx480")
TRACE = shipped_trace("list-ranking-wyllie.parquet")


@pytest.mark.parametrize(
    ("source", "kind"),
    [("x.parquet", "trace"), ("x.json", "workload"), ("stream", "kernel"), ("./kernels/stream", "kernel")],
)
def test_what_a_source_is_is_reported_by_its_suffix(source, kind):
    assert kind_of(source) == kind


def test_a_trace_is_what_lower_and_count_make_of_it():
    trace = load_trace(TRACE)
    for source in (TRACE, str(TRACE), trace):
        program = open_program(source)
        prepared = program.on(SMALL)
        assert (program.name, program.parameters) == (trace.info.kernel, trace.info.parameters)
        assert (program.kernel, program.workload) == (None, None)
        assert prepared.machine == SMALL
        assert prepared.workload == lower(trace, SMALL)
        assert prepared.counts == count(trace, SMALL)


def test_a_kernel_is_recorded_with_its_parameters():
    heard = []
    program = open_program("vector-add", {"side": 4}, heard.append)
    assert program.kernel.name == program.name == "vector-add"
    assert program.parameters["side"] == 4
    assert heard[-1] == program.trace.info.events


def test_a_workload_has_nothing_to_count(tmp_path):
    written = lower(load_trace(TRACE), SMALL)
    (tmp_path / "w.json").write_text(json.dumps(written.to_dict()))
    program = open_program(tmp_path / "w.json")
    prepared = program.on(SMALL)
    assert prepared.workload == load_workload(tmp_path / "w.json")
    assert (program.trace, prepared.counts) == (None, None)


@pytest.mark.parametrize(
    ("source", "given", "kinds", "error", "said"),
    [
        (TRACE, {"n": 4}, None, KernelError, r"\.parquet: parameters \(n\) can only be given to a kernel"),
        ("w.json", {"n": 4}, None, KernelError, r"w\.json: parameters \(n\) can only be given to a kernel"),
        (
            "w.json",
            None,
            ("kernel", "trace"),
            KernelError,
            r"w\.json: is a workload .*: must be a kernel's name or folder, or a",
        ),
        ("none.parquet", None, None, TraceError, r"none\.parquet"),
        ("none.json", None, None, WorkloadError, r"none\.json"),
        ("no-such-kernel", None, None, KernelError, "kernel 'no-such-kernel': unknown"),
        (3, None, None, KernelError, "source = 3: must be a kernel's name or folder, or a"),
    ],
)
def test_what_can_not_be_opened_is_reported_in_a_line(source, given, kinds, error, said):
    with pytest.raises(error, match=said) as caught:
        open_program(source, given, **({} if kinds is None else {"kinds": kinds}))
    assert "\n" not in str(caught.value)


def test_a_block_that_does_not_fit_is_reported_where_it_is_prepared():
    tiny = Machine.from_dict({
        "name": "tiny", "cores": {"groups": 1, "cores_per_group": 1, "warp_width": 1, "max_threads_per_core": 1},
        "memory": {"latency": 1, "chunk_words": 1},
    })  # fmt: skip
    with pytest.raises(WorkloadError, match="does not fit"):
        open_program(TRACE).on(tiny)


def test_a_trace_that_did_not_come_along_is_reported():
    with pytest.raises(TraceError, match=r"none\.parquet: is missing from this installation"):
        shipped_trace("none.parquet")
