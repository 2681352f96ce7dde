"""The quantities of a launch that both a profiler and simtmm have: where exports have them, and rows of a result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simtmm.measurement.nsight.numbers import BYTES, PERCENT, PLAIN, SECONDS, Units


@dataclass(frozen=True)
class Metric:
    """A quantity. raw: its columns on the raw page, added up. details: its name on the details page, if it is there.

    units: what the words for its unit stand for, in seconds, bytes or shares of 1. is_whole: whether it is a count.
    """

    raw: tuple[str, ...]
    details: str | None
    units: Units
    is_whole: bool = False


METRICS: Mapping[str, Metric] = {
    "seconds": Metric(("gpu__time_duration.sum",), "Duration", SECONDS),
    "instructions": Metric(("smsp__inst_executed.sum",), "Executed Instructions", PLAIN, True),
    "requests": Metric(
        ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"),
        None,
        PLAIN,
        True,
    ),
    "lines": Metric(("memory_l1_tag_requests_global",), None, PLAIN, True),
    "bank_conflicts": Metric(("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",), None, PLAIN, True),
    "l2_hit_rate_of_loads": Metric(("lts__t_sector_op_read_hit_rate.pct",), None, PERCENT),
    "bytes_read": Metric(("dram__bytes_read.sum",), None, BYTES),
    "occupancy": Metric(("sm__warps_active.avg.pct_of_peak_sustained_active",), "Achieved Occupancy", PERCENT),
}


@dataclass(frozen=True)
class Counted:
    """A quantity of a launch. words: as a table has it. of: its value, of a row of the launch and of its seconds.

    show: a value as a table has it. is_share: whether it is a part of 1, so that differences are points of a hundred.
    """

    words: str
    of: Callable[[Mapping[str, Any], float | None], float | None]
    show: Callable[[float], str]
    is_share: bool = False


def _row(name: str) -> Callable[[Mapping[str, Any], float | None], float | None]:
    return lambda row, seconds: row.get(name)


COUNTED: Mapping[str, Counted] = {
    "seconds": Counted("time, us", lambda row, seconds: seconds, lambda value: f"{value * 1e6:,.2f}"),
    "instructions": Counted("instructions of warps", _row("instructions"), lambda value: f"{value:,.0f}"),
    "requests": Counted("global requests", _row("requests"), lambda value: f"{value:,.0f}"),
    "lines": Counted("lines of requests", _row("chunks"), lambda value: f"{value:,.0f}"),
    "bank_conflicts": Counted("bank conflicts", _row("conflicts"), lambda value: f"{value:,.0f}"),
    "l2_hit_rate_of_loads": Counted(
        "L2 hits of loads", _row("l2_hit_rate"), lambda value: f"{100 * value:.0f} %", True
    ),
    "bytes_read": Counted("bytes from memory", _row("memory_bytes"), lambda value: f"{value:,.0f}"),
    "occupancy": Counted("occupancy", _row("achieved_occupancy"), lambda value: f"{100 * value:.0f} %", True),
}
