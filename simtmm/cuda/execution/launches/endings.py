"""The errors with which a launch may end."""


class StuckError(Exception):
    """No thread of a block can continue. Holds the launch's state and the block."""


class SlowError(Exception):
    """A launch has reached its time limit."""


class FaultError(Exception):
    """A thread of a block made a fault, which the launch describes. Holds the launch's state and the block."""
