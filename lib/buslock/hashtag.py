"""hash_tag: keys that lock together."""


def hash_tag(key):
    """The part of a string key between the first `{` and the next `}`, when not empty; else the key."""
    if isinstance(key, str):
        start = key.find("{") + 1
        end = key.find("}", start)
        if start and end > start:
            return key[start:end]
    return key
