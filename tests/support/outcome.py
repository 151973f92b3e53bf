"""How a test may end other than by returning or by an error of its own."""


class Skip(Exception):
    """Ends the test as skipped."""


def skip(reason):
    """Leaves the test out. The reason says what is missing and how to get it."""
    raise Skip(reason)


class Stuck(Exception):
    """Every task waits for something that can never come: raised by the loop instead of waiting for ever."""
