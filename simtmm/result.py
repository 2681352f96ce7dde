"""What a run gives: Result (simulated), Prediction (modelled) and Measurement (timed on a GPU). Frozen."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from simtmm.display import Displayed, Picture, drawn
from simtmm.errors import EngineError
from simtmm.extras import frame
from simtmm.renamed import LAUNCH_KEYS, with_new_names
from simtmm.stalls import Row, Rows, Stalls, with_bandwidth

if TYPE_CHECKING:
    import pandas

    from simtmm.timeline import Timeline, Traffic, Units

WHERE_TIME_GOES = ("issuing", "memory", "barrier", "start", "empty")


@dataclass(frozen=True)
class Result(Displayed):
    """The result of a simulation (machine rules, section 7).

    ticks: the run's length, including launch overheads. issued: instructions that used an issue port. transactions: the
    chunks that they list, including cache hits. l2_sectors, memory_sectors: sectors moved to and from the L2 and global
    memory, without what a cache writes back; without sectors, chunks. port_busy: ticks that ports were held, summed
    over ports. time: where the ticks of all core groups went, summed over groups, without launch overheads; None
    without a breakdown. launch_ticks: the length of each launch, including its overhead. timeline: what each warp did
    and when, if requested. stalls: how the warps spent their ticks, by reason and place, if requested. traffic: chunks
    over time, and units: what copies in bulk and products kept busy, for a run with a timeline. engine_reason: why the
    run is not on the fast engine, where a scheduling rule of the user's does not run there; else "".
    launches_in_graph: how many launches follow another one in a graph. reached_memory: whether anything may have gone
    to global memory or come from it, what caches write back included; only the fast engine says no. last_level_hits,
    last_level_sectors: chunks that the last-level cache had, and sectors moved to and from it, if there is one.
    shared_l1_hits, shared_l1_sectors: chunks that the caches had that groups share before the L2, and sectors that came
    to them, if there are any.
    """

    ticks: int
    issued: int
    transactions: int
    l1_hits: int
    l2_hits: int
    port_busy: int
    time: Mapping[str, int] | None
    launch_ticks: tuple[int, ...]
    ticks_per_cycle: int = 1
    clock_hz: float | None = None
    engine: str = field(default="", compare=False)
    l2_sectors: int = 0
    memory_sectors: int = 0
    timeline: "Timeline | None" = None
    stalls: Stalls | None = None
    traffic: "Traffic | None" = None
    units: "Units | None" = None
    engine_reason: str = field(default="", compare=False)
    launches_in_graph: int = field(default=0, compare=False)
    reached_memory: bool = field(default=True, compare=False)
    last_level_hits: int = 0
    last_level_sectors: int = 0
    shared_l1_hits: int = 0
    shared_l1_sectors: int = 0

    def __repr__(self) -> str:
        seconds = "" if self.seconds is None else f", {self.seconds:.4g} s"
        return f"Result({self.cycles:,.8g} cycles{seconds}{f', engine {self.engine}' if self.engine else ''})"

    @property
    def cycles(self) -> float:
        """ticks / ticks_per_cycle."""
        return self.ticks / self.ticks_per_cycle

    @property
    def seconds(self) -> float | None:
        """cycles / clock_hz; None if the machine has no clock rate."""
        return None if self.clock_hz is None else self.cycles / self.clock_hz

    @property
    def sites(self) -> Rows:
        """Ticks by reason, and counts: a row for each place of the program and array accessed there.

        `.to_frame()` makes a pandas.DataFrame of it. docs/why.md says what the columns are.

        Raises EngineError where stalls were not requested.
        """
        return self._over_all(self._stalls().rows())

    @property
    def lines(self) -> Rows:
        """The same with a row for each source line, the one with most ticks first."""
        return self._over_all(self._stalls().summed("line"))

    @property
    def arrays(self) -> Rows:
        """The same with a row for each array."""
        return self._over_all(self._stalls().summed("array"))

    @property
    def launches(self) -> Rows:
        """The same with a row for each launch, with its time and the warps that core groups hold."""
        stalls = self._stalls()
        return Rows(
            self._timed({"launch_ticks": ticks, **row}, ticks)
            for ticks, row in zip(self.launch_ticks, stalls.summed("launch"), strict=True)
        )

    def _over_all(self, rows: Rows) -> Rows:
        return Rows(self._timed(row, self.ticks) for row in rows)

    def _timed(self, row: Row, ticks: int) -> Row:
        return with_bandwidth(row, self._stalls().levels, ticks / self.ticks_per_cycle, self.clock_hz)

    def _stalls(self) -> Stalls:
        if self.stalls is None:
            raise EngineError("the result has no stalls: simulate with stalls=True")
        return self.stalls

    def to_dict(self) -> dict[str, Any]:
        """Everything except timeline, traffic, units and stalls, for JSON."""
        return {
            "engine": self.engine,
            "ticks": self.ticks,
            "cycles": self.cycles,
            "seconds": self.seconds,
            "issued": self.issued,
            "transactions": self.transactions,
            "l1_hits": self.l1_hits,
            **(
                {"shared_l1_hits": self.shared_l1_hits, "shared_l1_sectors": self.shared_l1_sectors}
                if self.shared_l1_sectors
                else {}
            ),
            "l2_hits": self.l2_hits,
            "l2_sectors": self.l2_sectors,
            "memory_sectors": self.memory_sectors,
            **(
                {"last_level_hits": self.last_level_hits, "last_level_sectors": self.last_level_sectors}
                if self.last_level_sectors
                else {}
            ),
            "port_busy": self.port_busy,
            "time": None if self.time is None else dict(self.time),
            "launch_ticks": list(self.launch_ticks),
            **({"launches_in_graph": self.launches_in_graph} if self.launches_in_graph else {}),
            **({"engine_reason": self.engine_reason} if self.engine_reason else {}),
        }

    def to_frame(self) -> "pandas.DataFrame":
        """A row of all numbers except those of single launches, for pandas; several results make a table.

        Raises OutputError if pandas is not installed.
        """
        row = {name: value for name, value in self.to_dict().items() if name not in ("time", "launch_ticks")}
        return frame([{**row, **{f"time.{state}": ticks for state, ticks in (self.time or {}).items()}}])

    def plot(self) -> Picture:
        """A picture of where the simulated time went. Raises OutputError without a breakdown or matplotlib."""
        return drawn(self)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any], ticks_per_cycle: int, clock_hz: float | None) -> "Result":
        """From `to_dict`'s form and the machine's clock, which that form lacks.

        table: what `to_dict` gave.
        ticks_per_cycle: ticks of the machine's clock cycle.
        clock_hz: cycles a second; None where there is no clock.

        Raises KeyError or TypeError.
        """
        given = {key: value for key, value in table.items() if key not in ("cycles", "seconds")}
        given["launch_ticks"] = tuple(given["launch_ticks"])
        return cls(**given, ticks_per_cycle=ticks_per_cycle, clock_hz=clock_hz)


@dataclass(frozen=True)
class Prediction(Displayed):
    """A model's prediction for a program on a machine.

    terms: each term's cycles by name, in the model's order. bound: the name of the largest term, which binds. symbols:
    the input values, by the papers' letters. source: document and equation.
    """

    model: str
    cycles: float
    bound: str
    terms: Mapping[str, float]
    symbols: Mapping[str, float]
    source: str
    clock_hz: float | None = None

    def __repr__(self) -> str:
        return f"Prediction({self.model}: {self.cycles:,.8g} cycles, {self.bound} binds)"

    @property
    def seconds(self) -> float | None:
        """cycles / clock_hz; None if the machine has no clock rate."""
        return None if self.clock_hz is None else self.cycles / self.clock_hz

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {
            "model": self.model,
            "cycles": self.cycles,
            "seconds": self.seconds,
            "bound": self.bound,
            "terms": dict(self.terms),
            "symbols": dict(self.symbols),
            "source": self.source,
        }

    def to_frame(self) -> "pandas.DataFrame":
        """A row with the time, what binds and each term, for pandas. Raises OutputError if pandas is not installed."""
        row = {"model": self.model, "cycles": self.cycles, "seconds": self.seconds, "bound": self.bound}
        return frame([{**row, **{f"terms.{name}": cycles for name, cycles in self.terms.items()}}])

    def plot(self) -> Picture:
        """A picture of the terms, and which of them binds. Raises OutputError if matplotlib is not installed."""
        return drawn(self)


@dataclass(frozen=True)
class Quartiles:
    """Of repeated times, in seconds: a quarter of them lies below `low`, half below `median`, three below `high`."""

    low: float
    median: float
    high: float

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.median <= self.high < float("inf"):
            raise ValueError(f"quartiles {self.low}, {self.median}, {self.high}: must be ascending and at least 0")

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "Quartiles":
        """Of at least one time; between two of them in proportion, as NumPy has it."""
        ordered = sorted(seconds)

        def at(share: float) -> float:
            place = share * (len(ordered) - 1)
            below = int(place)
            above = min(below + 1, len(ordered) - 1)
            return ordered[below] + (place - below) * (ordered[above] - ordered[below])

        return cls(at(0.25), at(0.5), at(0.75))


@dataclass(frozen=True)
class LaunchTime:
    """A launch as it was timed. registers_per_thread, spilled_bytes (of a thread): what the compiler allotted.

    shared_memory_bytes: what the launch claims. blocks_per_core_group: how many fit one at once.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers_per_thread: int
    spilled_bytes: int
    shared_memory_bytes: int
    blocks_per_core_group: int
    seconds: Quartiles


@dataclass(frozen=True)
class Measurement:
    """Times of a kernel's plain build on a GPU, its answer checked.

    machine: the GPU's name. total: the time of all launches, without the gaps between them. elapsed: from the first
    launch's start to the last one's end. cold: whether the caches were emptied before each run. device: the GPU's
    names, versions and measured `clock_hz`. source: a hash of the compiled source.
    """

    kernel: str
    parameters: Mapping[str, Any]
    machine: str
    launches: tuple[LaunchTime, ...]
    total: Quartiles
    elapsed: Quartiles
    repeat: int
    warm_up: int
    cold: bool
    device: Mapping[str, Any]
    source: str
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """The median of `total`, to compare with simulated and modelled times."""
        return self.total.median

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {"version": 1, "seconds": self.seconds, **asdict(self)}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Measurement":
        """From `to_dict`'s form.

        table: what `to_dict` gave.

        Raises KeyError, TypeError or ValueError for any other form.
        """
        if table["version"] != 1:
            raise ValueError(f"version {table['version']}, this simtmm reads 1")
        given = {key: value for key, value in table.items() if key not in ("version", "seconds")}
        given["launches"] = tuple(_launch_time(entry) for entry in given["launches"])
        return cls(**{**given, "total": Quartiles(**given["total"]), "elapsed": Quartiles(**given["elapsed"])})


def _launch_time(entry: Mapping[str, Any]) -> LaunchTime:
    (gx, gy, gz), (bx, by, bz) = entry["grid"], entry["block"]
    return LaunchTime(
        **{
            **with_new_names(entry, LAUNCH_KEYS),
            "grid": (gx, gy, gz),
            "block": (bx, by, bz),
            "seconds": Quartiles(**entry["seconds"]),
        }
    )
