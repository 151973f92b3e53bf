"""Methods that few programs need live in modules of their own; a class finds them here on first use."""


def rare(obj, cls, name, modules):
    """`obj.name`, where one of `modules` lists it in METHODS: from now on a method of `cls`."""
    if name[:2] != "__":
        for module in modules:
            module = __import__("buslock." + module, None, None, (name,))
            if name in module.METHODS:
                setattr(cls, name, getattr(module, name))
                return getattr(obj, name)
    raise AttributeError("%s has no %s" % (cls.__name__, name))
