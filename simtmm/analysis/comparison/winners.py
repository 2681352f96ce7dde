"""Winners of a comparison: the fastest program at each place, by each series, and where that changes.

A place is a machine and a value of each parameter that all programs were given. What only some programs have, a program
may choose for itself: the fastest of its cases there stands for it.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from simtmm.analysis.comparison.case import Case
from simtmm.analysis.comparison.comparison import Comparison
from simtmm.study.winners import Winner, exchanges, winner


def winners(made: Comparison) -> tuple[Winner, ...]:
    """By place and series, in the order of the cases; places that only one program has are left out.

    made: a comparison of several programs.
    """
    shared = _shared(made.cases)
    places: dict[tuple[object, ...], list[Case]] = {}
    for case in made.cases:
        key = (case.machine_name, *(case.parameters.get(name) for name in shared))
        places.setdefault(key, []).append(case)
    found = []
    for cases in places.values():
        at = {**{name: cases[0].parameters[name] for name in shared}, "machine": cases[0].machine_name}
        for series in made.series:
            times: dict[str, float] = {}
            for case in cases:
                time = made.time(case, series)
                if time is not None:
                    times[case.program] = min(time, times.get(case.program, time))
            found.append(winner(at, series, times))
    return tuple(one for one in found if one)


def contest(made: Comparison) -> dict[str, Any]:
    """The whole object, for JSON.

    made: a comparison of several programs.
    """
    winning = winners(made)
    return {
        "winners": [{**asdict(one), "lead": one.lead} for one in winning],
        "crossovers": [asdict(one) for one in exchanges(winning)],
    }


def _shared(cases: Sequence[Case]) -> list[str]:
    """The requested parameters, of all programs."""
    programs: dict[str, set[str]] = {}
    for case in cases:
        programs.setdefault(case.program, set()).update(case.given)
    in_all = set.intersection(*programs.values()) if programs else set()
    return [name for name in dict.fromkeys(name for case in cases for name in case.given) if name in in_all]
