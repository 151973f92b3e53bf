"""Methods that few programs need live in modules of their own; a class finds them here on first use.

Finding one takes memory, which there may not be when a hold ends. So a module that has such methods names in WITH those
that are to be found with the one that takes what they give back.
"""

from ._rt import later


def rare(obj, cls, name, directories):
    """`obj.name`, from now on a method of `cls`; `directories` are modules whose METHODS tells where its methods are."""
    if name[:2] != "__":
        for directory in directories:
            home = later._home(getattr(later, directory).METHODS, name)
            if home is not None:
                home = getattr(later, home)
                for other in getattr(home, "WITH", {}).get(name, ()):
                    getattr(obj, other)
                setattr(cls, name, getattr(home, name))
                return getattr(obj, name)
    raise AttributeError("%s has no %s" % (cls.__name__, name))
