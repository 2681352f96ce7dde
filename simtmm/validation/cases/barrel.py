"""Barrel processors: throughput of a loop over memory, by streams, on a Cray XMT and an MTA-2.

No document has numbers of it. What is known is the rule: a stream issues once in as many cycles as the pipeline is deep
(21), and has a few references in flight. So throughput is linear in the streams until they keep the pipeline full, be
it that one stream fills a 21st of it, or less as it waits for references; 000 says a context switch every cycle and
X = 128.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from simtmm.engine import simulate
from simtmm.machine import Machine, load_machine
from simtmm.model.series import SIMULATED
from simtmm.model.tmm import TMM
from simtmm.recorder import record
from simtmm.study.curves import bend
from simtmm.trace.lower import lower
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import Tables
from simtmm.validation.cases.papers import first_blocks, printed
from simtmm.watch import Watch

KERNEL = "looped-memory-access"
PROCESSORS = 2  # that are simulated, each with its memory
ELEMENTS = 320  # of a stream
INSTRUCTIONS = 2  # of the loop: a load and an addition
STREAMS = (1, 2, 4, 8, 12, 16, 20, 21, 22, 24, 28, 32, 40, 48, 64, 80, 96, 112, 128)
CASES = (("cray-xmt", 1), ("cray-xmt", 2), ("cray-xmt", 4), ("cray-xmt", 8), ("mta-2", 8))  # references in flight
SAMPLED = CASES[3:]  # of the cases: one that the latency binds, and one that the pipeline binds
PROMISED, PROMISED_KNEE = 0.03, 0.03

ORIGIN = (
    "of a barrel, as nothing was measured: min(1 / 2, streams / max(42, (L + 22) / references)) elements a "
    "cycle and processor for a loop of two instructions. "
)
NOTES = (
    "A stream takes two issues of 21 cycles for an element, or a reference's L, the cycle that it is issued in and the "
    "21 of the addition that waits for it, over the references in flight, whichever is more. Streams fill the pipeline "
    "when there are half as many as those cycles: 21 at least.",
    "Waiting for each reference, an XMT's 128 streams don't fill its pipeline: throughput is linear to the end.",
    "The TMM knows neither pipeline nor references in flight beyond one of each thread.",
    "L = 364 of the XMT is an assumption (its profile says which).",
)


def reproduce(watch: Watch | None = None) -> Tables:
    """Throughput over streams, and its knees."""
    return _tables(CASES, watch)


def sample(watch: Watch | None = None) -> Tables:
    """The same with fewer cases."""
    return _tables(SAMPLED, watch)


def _tables(cases: Sequence[tuple[str, int]], watch: Watch | None) -> Tables:
    source = printed("barrel")["source"]
    curves, knees = [], []
    for done, (name, references) in enumerate(cases):
        if watch:
            watch("streams of a barrel", done, len(cases))
        machine = load_machine(name)
        points = list(curve(machine, references))
        curves.extend(points)
        expected = streams_that_fill(machine, references)
        if expected < STREAMS[-1]:
            values = {}
            bent = bend(np.array(STREAMS, dtype=np.float64), 1 / np.array([point.said[SIMULATED] for point in points]))
            if bent is not None:
                values[SIMULATED] = bent.at
            knees.append(Measured(points[0].group, expected, values, at=references, group=machine.name))

    def table(
        name: str, title: str, quantity: str, unit: str, along: str, found: list[Measured], promised: float
    ) -> Accuracy:
        return Accuracy(
            name=name,
            title=title,
            quantity=quantity,
            unit=unit,
            points=tuple(found),
            calibrated="nothing",
            origin=ORIGIN + source,
            machine="cray-xmt, mta-2",
            along=along,
            promised={SIMULATED: promised},
            notes=NOTES,
            reference="closed form",
        )

    return (
        table(
            "barrel-throughput",
            "A loop over memory on a Cray XMT and an MTA-2",
            "throughput",
            "elements a cycle and processor",
            "streams of a processor",
            curves,
            PROMISED,
        ),
        table(
            "barrel-knees",
            "Streams that fill the pipeline of a Cray XMT and an MTA-2",
            "streams",
            "streams of a processor",
            "references in flight",
            knees,
            PROMISED_KNEE,
        ),
    )


def cycles_of_an_element(machine: Machine, references: int) -> float:
    """The cycles that a stream takes for an element with so many references in flight, alone on its processor."""
    depth = machine.scheduling.pipeline_depth
    return max(INSTRUCTIONS * depth, (machine.memory.latency + machine.issue_cycles + depth) / references)


def streams_that_fill(machine: Machine, references: int) -> float:
    """Streams of a processor from which on it issues every cycle."""
    return cycles_of_an_element(machine, references) / INSTRUCTIONS


def part_of(machine: Machine) -> Machine:
    """A few processors of a machine, each with its memory."""
    return machine.replace({"cores.groups": PROCESSORS, "memory.partitions": PROCESSORS})


def curve(machine: Machine, references: int) -> Iterator[Measured]:
    """Throughput over STREAMS, each with so many references in flight."""
    on = part_of(machine)
    most = PROCESSORS * STREAMS[-1]
    parameters = {"n": ELEMENTS * most, "threads": 1, "blocks": most, "ahead": references}
    workload = lower(record(KERNEL, parameters), on)
    of = f"{machine.name}, {references} in flight"
    for count in STREAMS:
        took = simulate(on, first_blocks(workload, PROCESSORS * count), breakdown=False).cycles
        elements = ELEMENTS * count  # of a processor
        modelled = TMM.formula.evaluate(
            T1=INSTRUCTIONS * elements * PROCESSORS,
            Tinf=INSTRUCTIONS * ELEMENTS,
            M=elements * PROCESSORS,
            T=count,
            P=PROCESSORS,
            L=on.memory.latency,
        )
        values = {SIMULATED: elements / took, "tmm": elements / float(modelled.total)}
        expected = min(1 / INSTRUCTIONS, count / cycles_of_an_element(machine, references))
        yield Measured(f"{of}, {count} streams", expected, values, at=count, group=of)
