"""Files of pictures: where they can be written, and writing them. The same picture gives the same file."""

import io
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from simtmm.errors import OutputError
from simtmm.files import check_writable, written_whole
from simtmm.provenance import VERSION
from simtmm.report.pictures.style import check_installed, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
METADATA: dict[str, dict[str, str | None]] = {  # no dates: the same picture gives the same file
    "png": {"Software": f"simtmm {VERSION}"},
    "pdf": {"Creator": f"simtmm {VERSION}", "CreationDate": None},
    "svg": {"Creator": f"simtmm {VERSION}", "Date": None},
}


def check(path: str | Path) -> None:
    """Raise OutputError if a picture can't be written there: to be called before long work, not after it."""
    if Path(path).suffix.lower() not in FORMATS:
        raise OutputError(f"{path}: a picture's name must end in {', '.join(FORMATS)}")
    check_writable(path)
    check_installed()


def write(path: str | Path, figure: "Figure") -> None:
    """Write a picture, in the format of its suffix. Raises OutputError."""
    check(path)
    kind = Path(path).suffix.lower()[1:]
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells of every glyph of a PDF
    with written_whole(path) as temporary, style():
        figure.savefig(temporary, format=kind, metadata=METADATA[kind])


def png(figure: "Figure", description: str, dots: int) -> bytes:
    """A picture as the bytes of a PNG file, with a description among its metadata. dots: to an inch."""
    held = io.BytesIO()
    with style():
        figure.savefig(held, format="png", dpi=dots, metadata={**METADATA["png"], "Description": description})
    return held.getvalue()
