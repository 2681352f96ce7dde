"""All-pairs shortest paths by the integrated framework: Figs 6.2 to 6.5 of Ma's dissertation."""

from typing import Any

from simtmm.model.applications.integrated_apsp import requested_blocks
from simtmm.model.series import SIMULATED
from simtmm.validation.cases.gtx480_apsp import CALIBRATED, SHAPES
from simtmm.validation.cases.papers import printed
from simtmm.validation.figures.figure import Figure, curve
from simtmm.validation.figures.shortest_paths import SCALED, SHRUNK, THREADS, VERTICES, automatic, runs


def framework() -> tuple[Figure, ...]:
    """Figs 6.2 to 6.5."""
    stated = printed("gtx480-apsp")
    a1, a0 = stated["a1"], stated["a0"]
    knees = dict(zip(stated["sub_block"], stated["knee"], strict=True))

    def x(side: int, threads: float) -> float:
        return float(float(requested_blocks(VERTICES, side)) ** 0.5 / threads)

    sides = {side: automatic(side) for side in SHAPES}
    common: dict[str, Any] = {
        "y": "s",
        "fitted": f"the line, by the paper, on points in its figure alone; simulation: {CALIBRATED}",
        "predicted": "the simulated times",
        "notes": SCALED,
        "shrunk": SHRUNK,
    }
    spread = [x(64, 32), x(64, 2), x(16, 2)]
    simulated = {
        side: curve(f"simulated, S_D = {side}", "simulated", [(run.threads, run.said[SIMULATED]) for run in runs])
        for side, runs in sides.items()
    }
    lines = {
        side: curve(
            f"Eq (6.10), S_D = {side}", "fitted", {T: a1 * x(side, T) + a0 for T in THREADS if knees[side] >= T}
        )
        for side in SHAPES
    }
    over_blocks = [T for T in THREADS if sum(any(run.threads == T for run in runs) for runs in sides.values()) > 1]
    anomaly = {int(blocks): time for blocks, time in zip(stated["run_active_blocks"], stated["run_s"], strict=True)}
    at = float(stated["run_threads_per_core"])
    return (
        Figure(
            "ma-fig-6.2",
            "All-pairs shortest paths over sqrt(B_r) / T",
            "000 Fig 6.2, Eq (6.10)",
            x="sqrt(B_r) / T",
            curves=(
                curve("Eq (6.10)", "fitted", {at_: a1 * at_ + a0 for at_ in spread}),
                *(
                    curve(
                        f"simulated, S_D = {side}",
                        "simulated",
                        [(x(side, run.threads), run.said[SIMULATED]) for run in runs],
                    )
                    for side, runs in sides.items()
                ),
            ),
            **common,
        ),
        Figure(
            "ma-fig-6.3",
            "All-pairs shortest paths over threads per core",
            "000 Fig 6.3",
            x="threads per core",
            curves=(*lines.values(), *simulated.values()),
            **common,
        ),
        Figure(
            "ma-fig-6.4",
            "All-pairs shortest paths over requested blocks",
            "000 Fig 6.4",
            x="requested blocks B_r",
            logarithmic="x",
            curves=tuple(
                curve(
                    f"simulated, T = {T:g}",
                    "simulated",
                    [
                        (float(requested_blocks(VERTICES, side)), run.said[SIMULATED])
                        for side, runs in sorted(sides.items(), reverse=True)
                        for run in runs
                        if run.threads == T
                    ],
                )
                for T in over_blocks
            ),
            **common,
        ),
        Figure(
            "ma-fig-6.5",
            "Fewer active blocks than fit, S_D = 32",
            "000 Fig 6.5",
            x="threads per core",
            curves=(
                curve(
                    "simulated, as many as fit", "simulated", [(run.threads, run.said[SIMULATED]) for run in sides[32]]
                ),
                *(
                    curve(
                        f"simulated, B_a = {blocks}",
                        "simulated",
                        sorted(
                            (run.threads, run.said[SIMULATED])
                            for run in runs()
                            if run.sub_block == 32 and run.blocks == blocks
                        ),
                    )
                    for blocks in (1, 2)
                ),
                *(curve(f"measured, B_a = {blocks}", "printed", {at: time}) for blocks, time in anomaly.items()),
            ),
            **common,
        ),
    )
