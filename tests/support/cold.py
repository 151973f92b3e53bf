"""The library as it is before something was used for the first time, on MicroPython.

Methods that few programs need become methods of their class when they are first used (lib/buslock/rare.py).
`forget_methods()` takes them away again, `forget_modules()` also unloads what was loaded since `keep_modules()`.
"""

import sys

_kept = ()  # names of modules that stay loaded
_names = ()  # and what is in them
_known = []  # (class, names of its directories of methods)
_looked = 0  # how many modules were loaded then
ALSO = {"LockTable": ("tablemore",), "Lazy": ("lazymore",)}  # those that do not say so themselves
_package = sys.modules["buslock"]


def _classes():
    """(class, names of its directories of methods) of all that is loaded."""
    global _looked
    if _looked != len(sys.modules):
        for name in list(sys.modules):
            if name[:8] == "buslock.":
                _look(sys.modules[name])
        _looked = len(sys.modules)
    return _known


def _look(module):
    for member in dir(module):
        cls = getattr(module, member)
        if isinstance(cls, type) and cls not in [known for known, _ in _known]:
            homes = ALSO[member] if member in ALSO else getattr(cls, "_directories", None)
            if homes is not None:
                _known.append((cls, homes))


def forget_methods():
    """Every method that a class has found on first use is to be found again."""
    for cls, directories in _classes():
        for directory in directories:
            module = sys.modules.get("buslock." + directory)
            for line in module.METHODS.split(",") if module else ():
                names = line.split()
                home = sys.modules.get("buslock." + names[0])
                for name in names[1:] if home else ():
                    if cls.__dict__.get(name) is getattr(home, name):
                        delattr(cls, name)


def keep_modules(names):
    """These stay loaded."""
    global _kept, _names
    _kept = ["buslock." + name for name in names]
    for name in _kept:
        __import__(name)
    forget_methods()
    _names = [member for name in _kept for member in dir(sys.modules[name])]


def forget_modules():
    """Every other module of the library is to be loaded again."""
    global _looked
    forget_methods()
    for name in list(sys.modules):
        if name[:8] == "buslock." and name not in _kept:
            sys.modules.pop(name, None)
            if name[8:] in _package.__dict__:
                delattr(_package, name[8:])
    _known[:] = [pair for pair in _known if pair[0].__name__ in _names]
    _looked = len(sys.modules)
