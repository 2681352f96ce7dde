"""What chooses configurations: its name, how many it tries, and its seed."""

import pytest

from simtmm.analysis.tuning.sampler import MOST_TRIALS, SAMPLERS, TRIALS, SamplerChoice, sampler_choice
from simtmm.errors import StudyError


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
