"""How a launch ends other than well."""


class StuckError(Exception):
    """No thread of a block can go on: the state and the block."""


class SlowError(Exception):
    """A launch has taken as long as it might."""


class FaultError(Exception):
    """A thread of a block did what it must not, which stands in the launch: the state and the block."""
