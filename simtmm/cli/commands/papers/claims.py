"""`simtmm paper claims`."""

from typing import Annotated

import typer

from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions, PictureOption
from simtmm.errors import StudyError
from simtmm.requests.completion import complete_claim


@grouped
def claims(
    result: DocumentOptions,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="the claim to show in detail; default: all", autocompletion=complete_claim),
    ] = None,
    points: Annotated[
        bool, typer.Option("--points", help="list what came out at each setting of what the paper leaves open")
    ] = False,
    picture: PictureOption = None,
) -> None:
    """List what the papers claim, with a verdict on each claim.

    How a verdict is known: by a closed form, by a simulation, or by a band, which simulates every combination of what
    the paper leaves open. Nothing is simulated here: `paper reproduce` does that.
    """
    from simtmm.report.papers.claims import claims_document, describe_claim, describe_claims
    from simtmm.validation.claims import find_claim, known_claims

    if name is None:
        if points or picture is not None:
            raise StudyError(f"{'--points' if points else '--picture'}: is of one claim: name it")
        known = known_claims()
        result.show(describe_claims(known), claims_document(known))
        return
    claim = find_claim(name)
    if claim.band is None and (points or picture is not None):
        raise StudyError(f"claim {name!r}: has no band, so there are no points{claim.no_band and f': {claim.no_band}'}")
    if picture is not None and claim.band is not None:
        from simtmm.report.pictures import files
        from simtmm.report.pictures.paper_figure import picture as drawn
        from simtmm.validation.figures.bands import figure

        files.check(picture)
        files.write(picture, drawn(figure(claim.band, claim.band.points)))
    result.show(describe_claim(claim, points), claim.to_dict())
