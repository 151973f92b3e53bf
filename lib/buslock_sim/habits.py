"""Habits: what differs between ports, as the attributes of one object per port."""


class Habits:
    """The habits of one port; those not given are the class's."""

    def __init__(self, name, **habits):
        self.name = name
        for habit, value in habits.items():
            if not hasattr(self, habit):
                raise TypeError("a port has no habit %s" % habit)
            setattr(self, habit, value)


def find(port, kind, table, others=(), other=None):
    """The port for a name, or the one given, which must be of that kind; others belong to the class other."""
    if isinstance(port, kind):
        return port
    if port in table:
        return table[port]
    if port in others:
        raise ValueError("port %r is for %s" % (port, other))
    raise ValueError("unknown port %r, known are %s" % (port, ", ".join(sorted(table))))
