"""What a wrong variant of the library is."""


class Variant:
    """`edits`: (file, text, what stands in its place). `scenario` in `mode` finds it, and the message of what is found
    begins with `finds`. `in_sessions`: random sessions at a table find it too.
    """

    def __init__(self, name, edits, scenario, mode, finds, in_sessions=False):
        self.name = name
        self.edits = edits
        self.scenario = scenario
        self.mode = mode
        self.finds = finds
        self.in_sessions = in_sessions
