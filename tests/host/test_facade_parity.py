"""The look-alikes against the stubs of what they look like, method by method and argument by argument."""

import ast
import inspect
import re

import pytest

from tools import environment

MISSING = {
    # what a look-alike refuses to have, and why
    "machine.SPI.CONTROLLER": "asked of the port's own class, and not every port has it",
}
VALUE = object()  # what arguments are given


def shapes():
    """{name: (look-alike, the class in the stubs)}, each look-alike over the other library's peripheral."""
    from buslock import I2CBus, SPIBus, UARTBus
    from buslock_sim import I2C, SPI, UART, BusioI2C, BusioSPI, BusioUART, SpiWire, UartLine, Wire

    return {
        "machine.I2C": I2CBus(BusioI2C(Wire())).as_machine(),
        "machine.SPI": SPIBus(BusioSPI(SpiWire())).device(None).as_machine(),
        "machine.UART": UARTBus(BusioUART(UartLine())).device().as_machine(),
        "busio.I2C": I2CBus(I2C(Wire())).as_busio(),
        "busio.SPI": SPIBus(SPI(SpiWire())).device(None).as_busio(),
        "busio.UART": UARTBus(UART(UartLine())).device().as_busio(),
    }


def stubs():
    """{"machine.I2C": {name: [signatures]}}; an attribute has none."""
    environment.ensure("dev", "stubs-rp2")
    site = next((environment.VENV / "lib").glob("python*")) / "site-packages"
    files = {
        "machine": environment.FOLDERS["stubs-rp2"] / "machine.pyi",
        "busio": site / "busio-stubs" / "__init__.pyi",
    }
    found = {}
    for module, path in files.items():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name in ("I2C", "SPI", "UART"):
                found[f"{module}.{node.name}"] = members(node)
    return found


def members(node):
    found = {}
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name != "__init__":
            found.setdefault(item.name, []).append(item)
        elif isinstance(item, ast.AnnAssign):
            found.setdefault(ast.unparse(item.target), [])
    return found


STUBS = stubs()
TABLE = [(name, member) for name in STUBS for member in STUBS[name] if f"{name}.{member}" not in MISSING]


def calls(function):
    """Ways to call it that its stub allows: the required arguments, all of them by position, all of them by name."""
    arguments = function.args
    positional = [arg.arg for arg in arguments.posonlyargs][1:] if arguments.posonlyargs else []
    either = [arg.arg for arg in arguments.args]
    either = either if arguments.posonlyargs else either[1:]
    count = len(positional) + len(either)
    required = count - len(arguments.defaults)
    named = {arg.arg: VALUE for arg in arguments.kwonlyargs}
    must = {
        arg.arg: VALUE
        for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    }
    yield (VALUE,) * required, must
    yield (VALUE,) * count, named
    yield (VALUE,) * len(positional), {**dict.fromkeys(either, VALUE), **named}


@pytest.fixture(scope="module")
def looks(_library):
    return shapes()


@pytest.fixture(autouse=True, scope="module")
def _library():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(environment.ROOT / "lib")
        yield


@pytest.mark.parametrize(("name", "member"), TABLE, ids=[".".join(row) for row in TABLE])
def test_member(looks, name, member):
    look = looks[name]
    functions = STUBS[name][member]
    if not functions:
        if member.isupper():
            look = as_on_the_port(name, member)
        assert not callable(getattr(look, member))
        return
    ours = getattr(look, member)
    for function in functions:
        for positional, named in calls(function):
            if member == "__exit__":  # the stub leaves out what every `with` gives
                positional = (None, None, None)
            inspect.signature(ours).bind(*positional, **named)


def as_on_the_port(name, member):
    """A look-alike over a port that has the constant."""
    from buslock import SPIBus, UARTBus
    from buslock_sim import SPI, UART, SpiWire, UartLine

    if name == "machine.SPI":
        return SPIBus(SPI(SpiWire())).device(None).as_machine()
    uart = UART(UartLine())
    setattr(uart, member, 1)
    return UARTBus(uart).device().as_machine()


@pytest.mark.parametrize("name", sorted(STUBS))
def test_defaults(looks, name):
    """Of the arguments that both have, where a default means something to the driver."""
    differing = []
    for member, functions in STUBS[name].items():
        for function in functions:
            ours = inspect.signature(getattr(looks[name], member)).parameters
            arguments = function.args
            pairs = list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
            known = [*arguments.posonlyargs, *arguments.args]
            pairs += list(zip(known[len(known) - len(arguments.defaults) :], arguments.defaults, strict=True))
            for arg, default in pairs:
                if default is None or arg.arg not in ours or member == "init":  # init() leaves what it is not told
                    continue
                text = ast.unparse(default)
                got = ours[arg.arg].default
                large = text == "sys.maxsize" and got >= 1 << 30 - 1
                if not large and repr(got) != text and got is not None:
                    differing.append(f"{member}({arg.arg}={text}), here {got!r}")
    assert differing == []


@pytest.mark.parametrize("name", sorted(STUBS))
def test_nothing_public_is_made_up(looks, name):
    """A driver that asks with hasattr() which of both it was given gets the right answer."""
    extra = {"machine.SPI": {"cs"}, "busio.SPI": {"cs"}}.get(name, set())
    ours = {member for member in dir(looks[name]) if not member.startswith("_")}
    known = set(STUBS[name]) | extra
    if name.startswith("machine"):
        known |= {"deinit"}
    assert ours - known == set()
    assert re.search(r"try_lock", " ".join(ours)) is None or name.startswith("busio")
