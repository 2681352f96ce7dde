"""What claims give over what their papers leave open: simtmm/validation/claims/outcomes.csv.

`python -m tests.validation.bands NAME...` simulates bands again and keeps what came out; without a name, those bands of
which a setting is missing. Each setting is kept as it is done, so that the same command goes on where it was ended.
"""

import argparse
import time
from pathlib import Path

from simtmm.files import write_text, written_whole
from simtmm.validation.claims import bands
from simtmm.validation.figures.bands import outcome

FILE = Path(bands.__file__).with_name(bands.OUTCOMES)


def kept():
    """What the file has, without rows of bands or settings that are no more."""
    there = bands._outcomes() if FILE.exists() else {}
    known = {(name, bands.setting_text(each)) for name, band in bands.known_bands().items() for each in band.settings}
    return {key: value for key, value in there.items() if key in known}


def main():
    """Simulate and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="bands")
    given = parser.parse_args()
    known = bands.known_bands()
    outcomes = kept()
    for name, band in known.items():
        settings = list(band.settings)
        missing = any((name, bands.setting_text(each)) not in outcomes for each in settings)
        if name in given.names or (missing and not given.names):
            begun = time.perf_counter()
            if not missing:  # all anew
                outcomes = {key: value for key, value in outcomes.items() if key[0] != name}
            for setting in settings:
                key = name, bands.setting_text(setting)
                if key in outcomes:
                    continue
                outcomes[key] = outcome(band, setting)
                with written_whole(FILE) as part:
                    write_text(part, bands.written(outcomes, list(known)))
            values = [outcomes[name, bands.setting_text(each)] for each in settings]
            print(
                f"{name}: {len(values)} points, {min(values):.3g} to {max(values):.3g}, holds at "
                f"{sum(map(band.holds, values))}, {time.perf_counter() - begun:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
