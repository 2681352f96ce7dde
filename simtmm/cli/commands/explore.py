"""`simtmm explore`."""

from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.cli.options.environment import EnvironmentOptions
from simtmm.cli.options.grouped import grouped
from simtmm.errors import OutputError
from simtmm.extras import install
from simtmm.requests.completion import complete_kernel
from simtmm.requests.kernel_file import ParamOption
from simtmm.requests.machine import machine_option
from simtmm.requests.values import parameters_of

if TYPE_CHECKING:
    from simtmm.explorer.server import Server


@grouped
def explore(
    environment: EnvironmentOptions,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            help="a kernel, launches (.toml), a trace (.parquet) or a workload (.json); default: list ranking",
            autocompletion=complete_kernel,
        ),
    ] = None,
    machine: Annotated[
        str | None,
        machine_option("a machine (see `machines`); default: gtx480, or h100-sxm for a kernel recorded as compiled"),
    ] = None,
    param: ParamOption = None,
    story: Annotated[
        str | None, typer.Option("--story", metavar="NAME", help="start with a story (docs/explore.md)")
    ] = None,
    state: Annotated[
        str | None,
        typer.Option("--state", metavar="LINK", help="start from another page's link, or from its part after ?"),
    ] = None,
    port: Annotated[
        int,
        typer.Option("--port", metavar="NUMBER", min=0, max=65535, help="the port to listen on; default: a free one"),
    ] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="open the page in the browser")] = True,
) -> None:
    """Open a live page: drag the latency, watch the warps.

    The server accepts only this computer and runs until Ctrl-C.
    """
    import asyncio  # with this, all other commands would begin later

    from simtmm.explorer.start import start

    if story is not None and (state is not None or source is not None or param):
        raise OutputError(f"--story {story}: can't be combined with a program, --param or --state: give one of them")
    if state is not None and param:
        raise OutputError("--param: can't be combined with --state, which has parameters as p.NAME=VALUE")
    begin = start(source, machine, parameters_of(param), story, state)
    try:
        from simtmm.explorer.server import Server
    except ImportError as error:
        raise OutputError(f"explore: {error.name} is not installed: {install('explore')}") from None

    async def serve() -> None:
        try:
            server = Server(begin, port)
        except OSError as error:
            raise OutputError(f"--port {port}: can't be opened ({error.strerror})") from None
        try:
            _show(server, browser)
            await asyncio.Event().wait()
        finally:
            await server.close()

    asyncio.run(serve())


def _show(server: "Server", browser: bool) -> None:
    """Print where the page is, and open it."""
    import webbrowser

    print(f"{server.address}\nPress Ctrl-C to stop.", flush=True)
    if browser:
        webbrowser.open(server.address)
