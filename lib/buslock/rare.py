"""Methods that few programs need live in modules of their own; a class finds them here on first use.

Finding one takes memory, which there may not be when a hold ends. So a module that has such methods names in WITH those
that are to be found with the one that takes what they give back.
"""

from ._rt import later


def rare(obj, cls, name, modules):
    """`obj.name`, where one of `modules` lists it in METHODS: from now on a method of `cls`."""
    if name[:2] != "__":
        for module in modules:
            module = getattr(later, module)
            if name in module.METHODS:
                for other in getattr(module, "WITH", {}).get(name, ()):
                    getattr(obj, other)
                setattr(cls, name, getattr(module, name))
                return getattr(obj, name)
    raise AttributeError("%s has no %s" % (cls.__name__, name))
