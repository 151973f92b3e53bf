"""Methods that few programs need live in modules of their own; a class finds them here on first use."""

from . import _home


def rare(obj, cls, name, directories):
    """`obj.name`, from now on a method of `cls`; `directories` are modules whose METHODS tells where its methods are."""
    if name[:2] != "__":
        for module in directories:
            home = _home(__import__("buslock." + module, None, None, ("METHODS",)).METHODS, name)
            if home is not None:
                setattr(cls, name, getattr(home, name))
                return getattr(obj, name)
    raise AttributeError("%s has no %s" % (cls.__name__, name))
