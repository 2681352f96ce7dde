"""Exports in each form that Nsight Compute and Nsight Systems have had.

All texts here are written by hand, from the documentation of the tools: no GPU printed them. Real exports of an H100
stand in tests/trace/importers/ncu.
"""

import pytest

from simtmm.errors import StudyError
from simtmm.measurement.nsight import COMPUTE, SYSTEMS, Device, load_nsight, load_profile
from simtmm.measurement.nsight.device import device_of
from tests.measurement.nsight.test_launches import EXPORTS

KERNEL = '"void a::f<(int)3>(float *, int)"'
SIZES = '"(2, 1, 1)","(32, 1, 1)"'


@pytest.fixture
def load(tmp_path):
    def call(text, name="f.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_profile([path])

    return call


def the_launch(profile):
    ((tool, launch),) = profile.launches
    assert tool == COMPUTE
    return launch


def test_units_of_print_units_base_are_read(load):
    head = '"ID","Kernel Name","Grid Size","Block Size","gpu__time_duration.sum","dram__bytes_read.sum"'
    launch = the_launch(load(f'{head}\n"","","","","nsecond","byte"\n"0",{KERNEL},{SIZES},"16,352","33,558,272"\n'))
    assert launch.values == {"seconds": pytest.approx(16.352e-6), "bytes_read": 33558272}
    assert launch.kernel == "a::f<(int)3>"


def test_a_raw_page_without_columns_of_sizes_has_them_as_metrics(load):
    """As up to 2021, and with --print-kernel-base mangled."""
    names = '"launch__block_size","launch__grid_size","smsp__inst_executed.sum"'
    head = f'"ID","Process ID","Kernel Name","Kernel Time",{names}'
    launch = the_launch(load(f'{head}\n"","","","","","","inst"\n"0","7","_Z1fPfi","2021","32","1,024","4,096"\n'))
    assert (launch.kernel, launch.grid, launch.block) == ("f", (1024,), (32,))
    assert launch.values == {"instructions": 4096}


def test_sizes_by_dimension_are_read_where_there_is_no_column(load):
    names = ",".join(f'"launch__{each}_dim_{axis}"' for each in ("grid", "block") for axis in "xyz")
    launch = the_launch(load(f'"ID","Kernel Name",{names}\n{"".join(",") * 7}\n"0","f","2","3","1","32","4","1"\n'))
    assert (launch.grid, launch.block) == ((2, 3, 1), (32, 4, 1))


DETAILS = '"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"'


def test_details_of_2021_have_sizes_in_their_rows(load):
    rows = [
        ("Speed Of Light", "Duration", "usecond", "16.35"),
        ("Launch Statistics", "Block Size", "", "256"),
        ("Launch Statistics", "Grid Size", "", "16,384"),
    ]
    text = "\n".join(f'"0","f(int)","{section}","{name}","{unit}","{value}"' for section, name, unit, value in rows)
    launch = the_launch(load(f"{DETAILS}\n{text}\n"))
    assert (launch.grid, launch.block, launch.values) == ((16384,), (256,), {"seconds": pytest.approx(16.35e-6)})


@pytest.mark.parametrize(
    "name",
    ["Executed Instructions", "smsp__inst_executed.sum", "Executed Instructions (smsp__inst_executed.sum)",
     "Executed Instructions [smsp__inst_executed.sum]"],
)  # fmt: skip
def test_metrics_of_a_details_page_go_by_label_by_name_or_both(load, name):
    """--print-metric-name label, name and label-name; --metrics has names alone."""
    launch = the_launch(load(f'{DETAILS}\n"0","f(int)","Instruction Statistics","{name}","inst","4,096"\n'))
    assert launch.values == {"instructions": 4096}


def test_metrics_that_add_up_are_added_on_the_details_page_too(load):
    pair = [
        ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 3),
        ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 4),
    ]
    text = "\n".join(f'"0","f","Command line profiler metrics","{name}","request","{value}"' for name, value in pair)
    assert the_launch(load(f"{DETAILS}\n{text}\n")).values == {"requests": 7}


@pytest.mark.parametrize("value", ["n/a", "(!) n/a", "nan"])
def test_what_could_not_be_measured_is_no_value(load, value):
    launch = the_launch(load(f'{DETAILS}\n"0","f","","Duration","us","{value}"\n'))
    assert launch.values == {}


def test_a_column_of_details_that_has_the_name_of_a_metric_is_none(load):
    head = DETAILS.replace('"Section Name"', '"smsp__inst_executed.sum"')
    assert the_launch(load(f'{head}\n"0","f","7","Duration","us","1.5"\n')).values == {"seconds": pytest.approx(1.5e-6)}


def test_several_launches_and_kernels_keep_their_order(load):
    rows = "\n".join(f'"{number}","{name}","","Duration","us","{number}.5"' for number, name in enumerate("fgf"))
    assert [launch.kernel for _, launch in load(f"{DETAILS}\n{rows}\n").launches] == ["f", "g", "f"]


KERNEL_SUM = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name"
ROW = '100.0,3000,2,1500.0,1500.0,1000,2000,500.0,"void a::f<(int)3>(float *, int)"'


def test_kernel_sums_of_nsight_systems_are_read(load):
    """nsys stats prints what it does above."""
    text = f"Processing [x.sqlite] with [cuda_gpu_kern_sum.py]... \n\n{KERNEL_SUM}\n{ROW}\n\n"
    (found,) = load(text).sums
    assert (found.kernel, found.number) == ("a::f<(int)3>", 2)
    assert found.seconds == {
        "total": pytest.approx(3e-6), "mean": pytest.approx(1.5e-6), "median": pytest.approx(1.5e-6),
        "least": pytest.approx(1e-6), "most": pytest.approx(2e-6),
    }  # fmt: skip


def test_kernel_sums_of_2021_have_other_names_and_no_median(load):
    text = "Time(%),Total Time (ns),Instances,Average (ns),Minimum (ns),Maximum (ns),Name\n100.0,3,2,1.5,1,2,f(int)\n"
    (found,) = load(text).sums
    assert set(found.seconds) == {"total", "mean", "least", "most"}
    # Before that they had their unit in the total's name alone.
    older = "Time(%),Total Time (us),Instances,Average,Minimum,Maximum,Name\n100.0,3,2,1.5,1,2,f(int)\n"
    assert load(older).sums[0].seconds == pytest.approx({"total": 3e-6, "mean": 1.5e-6, "least": 1e-6, "most": 2e-6})


def test_kernel_sums_by_grid_and_block_keep_these(load):
    head = KERNEL_SUM.replace("StdDev (ns)", "StdDev (ns),GridXYZ,BlockXYZ").replace("(ns)", "(us)")
    (found,) = load(f'{head}\n100.0,3,2,1.5,1.5,1,2,0.5," 16    1    1"," 256    1    1",f\n').sums
    assert (found.grid, found.block) == ((16, 1, 1), (256, 1, 1))
    assert found.seconds["total"] == pytest.approx(3e-6)


TRACE = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"
    "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name"
)


def test_a_trace_of_nsight_systems_has_launches_and_leaves_copies_out(load):
    text = (
        f"{TRACE}\n100,1200,5,,,,,,,,,,0.016,800.0,Pageable,Device,NVIDIA A100 (0),1,7,[CUDA memcpy HtoD]\n"
        "2000,3500,6,16,1,1,256,1,1,16,0.0,0.0,,,,,NVIDIA A100 (0),1,7,f(int)\n"
    )
    ((tool, launch),) = load(text).launches
    ((_, earlier),) = load(text.replace(" (ns)", "(nsec)")).launches  # as up to 2021
    assert (tool, earlier) == (SYSTEMS, launch)
    assert (launch.kernel, launch.grid, launch.block, launch.device.name) == (
        "f",
        (16, 1, 1),
        (256, 1, 1),
        "NVIDIA A100",
    )
    assert launch.values == {"seconds": pytest.approx(3.5e-6)}


def test_sums_of_copies_are_read_beside_those_of_kernels(load):
    head = "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation"
    profile = load(
        f"{KERNEL_SUM}\n{ROW}\n\n{head}\n100.0,1200,1,1200.0,1200.0,1200,1200,0.0,[CUDA memcpy Host-to-Device]\n"
    )
    assert len(profile.sums) == 1
    (copies,) = profile.copies
    assert (copies.name, copies.number, copies.seconds["total"]) == (
        "[CUDA memcpy Host-to-Device]", 1, pytest.approx(1.2e-6),
    )  # fmt: skip


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16"])
def test_marks_of_byte_order_are_no_part_of_the_text(load, coding):
    """PowerShell writes UTF-16."""
    profile = load(f"{KERNEL_SUM}\n{ROW}\n".encode(coding))
    assert profile.sums[0].number == 2


RAW = '"ID","Kernel Name","Grid Size","Block Size","gpu__time_duration.sum","smsp__inst_executed.sum"'


def raw(seconds="1.5", count="4", unit="us"):
    return f'{RAW}\n"","","","","{unit}","inst"\n"0","f",{SIZES},"{seconds}","{count}"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.csv: is empty: must be CSV of Nsight Compute"),
        (" \n\n", "f.csv: is empty"),
        (raw(seconds="16,35"), "f.csv:3: gpu__time_duration.sum = '16,35': must have a decimal point, not a comma"),
        (raw(seconds="1.016,352"), "f.csv:3: gpu__time_duration.sum = '1.016,352': must have a decimal point"),
        (raw(seconds="16,352"), "f.csv:3: gpu__time_duration.sum = '16,352' us: must have a decimal point"),
        (raw(count="2.490.368"), "f.csv:3: smsp__inst_executed.sum = '2.490.368': must have a decimal point"),
        (raw(count="2.490"), "f.csv:3: smsp__inst_executed.sum = '2.490': must be a whole number; where points stand"),
        (raw(count="1e999"), "smsp__inst_executed.sum = '1e999': must be at least 0 and at most 1e[+]30"),
        (raw(seconds="-1"), "gpu__time_duration.sum = '-1': must be at least 0"),
        (raw().replace('","', '";"'), "f.csv:1: columns are separated by ';': must be commas"),
        (raw().encode("latin-1").replace(b'"f"', b'"f\xfc"'), "f.csv:3: is not UTF-8"),
        (b"NVR\0\1\0\0", "f.csv: is a report, not CSV: export it with ncu -i FILE --csv --page raw"),
        (b"SQLite format 3\0\1", "f.csv: is a report, not CSV: export it with nsys stats --report"),
        (b"\1\0\2", "f.csv: is a report, not CSV: export it with ncu .*; nsys stats"),
        ("Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n1,2,3,4,f\n", "f.csv:1: is a sum of calls on the host"),
        ('"Kernel Name","Invocations","Metric Name"\n', "f.csv:1: is a summary .--print-summary.: leave that option"),
        (f"{KERNEL_SUM}\n100.0,3000,2.5,1,1,1,2,1,f\n", "f.csv:2: Instances = '2.5': must be a whole number"),
        (f"{KERNEL_SUM}\n100.0,3000,2,1,1,1,2,1,f,8\n", "f.csv:2: has 10 cells: must have at most 9"),
        (f"{TRACE}\n1,2,6,16,x,1,256,1,1,16,0.0,0.0,,,,,A100,1,7,f\n", "f.csv:2: GrdY = 'x': must be a whole number"),
        (f"{KERNEL_SUM}\n", "f.csv: has no launch"),
        ('"ID","Kernel Name","Metric Name"\n"0","f","Duration"\n', "f.csv:1: has no column 'Metric Unit'"),
        (f'{RAW},"launch__grid_size"\n"","","","","us","inst",""\n"0","f",{SIZES},"1","1","3"\n',
         "f.csv:3: Grid Size = '.2, 1, 1.': must be 3 altogether"),
    ],
)  # fmt: skip
def test_mistakes_are_named_by_line_and_column(load, text, message):
    with pytest.raises(StudyError, match=message):
        load(text)


@pytest.mark.parametrize(
    ("name", "command"),
    [("mine.ncu-rep", "ncu -i FILE"), ("mine.nsys-rep", "nsys stats"), ("mine.qdrep", "nsys"), ("a.sqlite", "nsys")],
)
def test_a_report_of_the_profiler_is_named_with_the_command_that_exports_it(load, name, command):
    with pytest.raises(StudyError, match=f"{name}: is a report, not CSV: export it with {command}"):
        load(b"\x50\x4b\x03\x04", name)


def test_pages_without_launches_are_no_launches(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text(f"{KERNEL_SUM}\n{ROW}\n")
    with pytest.raises(StudyError, match="has no launch"):
        load_nsight(path)


def test_pages_of_one_report_are_one_launch_with_the_values_of_both(tmp_path):
    (tmp_path / "raw.csv").write_text(raw("1.503", "4"))
    (tmp_path / "details.csv").write_text(
        f'{DETAILS}\n"0","f","Speed","Duration","us","1.50"\n"0","f","Occupancy","Achieved Occupancy","%","50"\n'
    )
    for names, seconds in ((("raw", "details"), 1.503e-6), (("details", "raw"), 1.5e-6)):
        (entry,) = load_profile([tmp_path / f"{name}.csv" for name in names]).launches
        assert entry[1].values == {"seconds": pytest.approx(seconds), "instructions": 4, "occupancy": 0.5}


def test_pages_of_two_reports_are_refused(tmp_path):
    (tmp_path / "one.csv").write_text(raw("1.5", "4"))
    (tmp_path / "other.csv").write_text(raw("1.7", "4"))
    with pytest.raises(
        StudyError, match=r"other.csv:3: seconds = 1.7e-06 and in .*one.csv:3 1.5e-06: pages must be of"
    ):
        load_profile([tmp_path / "one.csv", tmp_path / "other.csv"])


@pytest.mark.parametrize(
    ("unit", "value", "hertz"),
    [
        ("Ghz", "1.97", 1.97e9), ("Mhz", "585.5", 585.5e6), ("cycle/nsecond", "1.38", 1.38e9),
        ("cycle/usecond", "585.5", 585.5e6), ("cycle/second", "9", 9.0), ("furlong", "1", None), ("Ghz", "n/a", None),
    ],
)  # fmt: skip
def test_the_clock_of_a_launch_is_read_in_all_spellings(unit, value, hertz):
    device = device_of({"gpc__cycles_elapsed.avg.per_second": value}, {"gpc__cycles_elapsed.avg.per_second": unit})
    assert device.clock_hz == (None if hertz is None else pytest.approx(hertz))


def test_both_pages_say_the_gpu_and_its_clock():
    for page, name in (("raw", "NVIDIA H100 80GB HBM3"), ("details", "")):
        first = load_nsight(EXPORTS / f"{page}.csv")[0].device
        assert (first.name, first.capability) == (name, "9.0")
        assert first.multiprocessors in (132, None)
        assert first.clock_hz == pytest.approx(1.974e9, rel=5e-3)
    both = Device("", "9.0", None, 1e9).beside(Device("H100", "", 132, 2e9))
    assert both == Device("H100", "9.0", 132, 1e9)
