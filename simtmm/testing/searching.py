"""The search for counter-examples to laws."""

from hypothesis import HealthCheck, Phase, settings


def searching(draws: int) -> settings:
    """Settings of Hypothesis: so many draws, the same for a seed, of which a failing one is made smaller.

    Nothing passes from one search to the next, and no draw is too slow.
    """
    return settings(
        max_examples=draws,
        deadline=None,
        database=None,
        derandomize=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        report_multiple_bugs=False,
    )
