"""What chooses configurations: its name, how many it tries, and its seed."""

import pytest

from simtmm.analysis.tuning.sampler import MOST_TRIALS, SAMPLERS, TRIALS, Sampler, SamplerChoice, sampler_choice
from simtmm.errors import StudyError
from simtmm.study.design.axes import Axis


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_name_alone_has_the_usual_trials_and_seed(name):
    assert sampler_choice(name) == sampler_choice({"name": name}) == SamplerChoice(name, TRIALS, 0)


@pytest.mark.parametrize("trials", [1, 2, MOST_TRIALS])
@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_numbers_up_to_their_limits_are_taken(trials, seed):
    given = {"name": "random", "trials": trials, "seed": seed}
    assert sampler_choice(given) == SamplerChoice("random", trials, seed)


@pytest.mark.parametrize("value", [True, 1.0, "7", None, [1]])
@pytest.mark.parametrize(("key", "low", "high"), [("trials", 1, MOST_TRIALS), ("seed", 0, 2**32 - 1)])
def test_what_is_no_whole_number_within_them_is_refused(key, low, high, value):
    for each, shown in ((value, f"{value!r}"), (low - 1, f"{low - 1}"), (high + 1, f"{high + 1}")):
        with pytest.raises(StudyError) as caught:
            sampler_choice({"name": "tpe", key: each})
        assert str(caught.value) == f"sampler: {key} = {shown}: must be a whole number from {low} to {high}"


def test_other_names_and_keys_are_refused():
    for given in ("tpee", {"trials": 7}, {"name": "TPE"}):
        with pytest.raises(StudyError, match="must be one of " + ", ".join(SAMPLERS)):
            sampler_choice(given)
    with pytest.raises(StudyError, match=r"^sampler: trails: unknown; its keys are name, trials and seed$"):
        sampler_choice({"name": "tpe", "trails": 7})


AXES = (Axis("block", (32, 64, 128)), Axis("kind", ("b", "a")), Axis("on", (True, False)), Axis("down", (9, 4)))


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("objectives", [1, 2])
def test_as_many_configurations_are_chosen_as_are_asked_for_and_each_outcome_is_that_of_its_own(name, objectives):
    pytest.importorskip("optuna")
    sampler = Sampler(AXES, SamplerChoice(name, 9, 5), objectives)
    seen = []
    for number in (1, 3, 8):
        asked = sampler.ask(number)
        assert len(asked) == number
        for configuration in asked:
            assert list(configuration) == [axis.name for axis in AXES]
            assert all(configuration[axis.name] in axis.values for axis in AXES)
        outcomes = [None if at == 1 else (10.0 * number + at, 7.0)[:objectives] for at in range(number)]
        sampler.tell(outcomes)
        seen += zip(asked, outcomes, strict=True)
    told = sampler._study.trials
    assert [(tuple(trial.values) if trial.values else None) for trial in told] == [outcome for _, outcome in seen]
    places = [[axis.values.index(configuration[axis.name]) for axis in AXES] for configuration, _ in seen]
    assert [list(trial.params.values()) for trial in told] == places
    assert sampler.ask(0) == []


def test_a_seed_asks_for_the_same_and_another_for_others():
    pytest.importorskip("optuna")
    first, again, other = (Sampler(AXES, SamplerChoice("random", 9, seed), 1).ask(20) for seed in (1, 1, 2))
    assert first == again != other
    assert {configuration["block"] for configuration in first} == {32, 64, 128}  # the last one, too


def test_values_that_go_up_are_near_one_another_and_others_are_not():
    pytest.importorskip("optuna")
    sampler = Sampler(AXES, SamplerChoice("random", 9, 5), 1)
    sampler.ask(1)
    (trial,) = sampler._study.trials
    kinds = {name: type(distribution).__name__ for name, distribution in trial.distributions.items()}
    assert kinds == {
        "block": "IntDistribution", "kind": "CategoricalDistribution", "on": "CategoricalDistribution",
        "down": "CategoricalDistribution",
    }  # fmt: skip
