"""`simtmm kernels`."""

from typing import Annotated, Any

import typer

from simtmm.cli.options.environment import KernelPathOption
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions
from simtmm.requests.completion import complete_kernel_or_rule_word


@grouped
def kernels(
    result: DocumentOptions,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="the kernel to show: parameters, source, paper",
            autocompletion=complete_kernel_or_rule_word,
        ),
    ] = None,
    kernel_path: KernelPathOption = None,
) -> None:
    """List the kernels, or show one and its parameters.

    Listing runs no kernel; showing one runs its host.py if it is shipped or given. `kernels rules`, `kernels test` and
    `kernels compare` are for scheduling rules.
    """
    from simtmm.catalogue import describe, known_kernels
    from simtmm.kernel import describe_kernel_named
    from simtmm.report import listing

    if name is None:
        known = known_kernels()
        texts = {each: describe(each, kernel.path) for each, kernel in known.items()}
        document: Any = {each: listing.kernel_document(texts[each], known=known[each]) for each in known}
        result.show(listing.describe_kernels(known, texts), document)
    else:
        one, symbols = describe_kernel_named(name)
        result.show(listing.describe_kernel(one, symbols), listing.kernel_document(one, symbols))
