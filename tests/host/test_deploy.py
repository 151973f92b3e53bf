"""tools/deploy.py: against a board that is a folder, whose connection can be lost at any step; against ports that are
busy, dead or not there; and against the emulated Pico's serial port."""
# pyright: reportMissingImports=false

import builtins
import contextlib
import errno
import importlib
import json
import os
import pty
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest

from tools import deploy, deploy_build, environment
from tools.pico.available import needs_pico

environment.ensure(deploy.LOCK)
importlib.invalidate_caches()

import serial  # noqa: E402
from mpremote.transport import TransportExecError  # noqa: E402

from tools import deploy_board, deploy_boards, deploy_copy  # noqa: E402
from tools.deploy_board import Board, DeployError, Info, Port  # noqa: E402

BLOCK = 4096
OLD = {"__init__.py": b"version = 1\n", "gone.py": b"x = 1\n"}
NEW = {"__init__.mpy": b"M\x06 new", "lock.mpy": b"M\x06" + bytes(5000), "i2c.mpy": b"M\x06 i2c"}


class Disk:
    """The board's file system in a folder; every change of it counts as a step, at which the connection can be lost."""

    def __init__(self, root: Path, blocks: int = 100, lost_at: int | None = None):
        self.root, self.blocks, self.lost_at, self.steps = root, blocks, lost_at, 0
        self.spoils = ""  # a file that is stored wrongly
        self.readonly = False

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def step(self):
        self.steps += 1
        if self.steps == self.lost_at:
            raise serial.SerialException("device disconnected")

    def free(self) -> int:
        return self.blocks - sum(-(-path.stat().st_size // BLOCK) for path in self.root.rglob("*") if path.is_file())

    def module(self):
        """What `import os` gives on the board."""

        def changes(function):
            def call(*names):
                self.step()
                return function(*map(self.path, names))

            return call

        def rename(old, new):
            assert not new.exists(), "a rename replaced something"
            old.rename(new)

        def ilistdir(name="/"):
            for path in list(self.path(name).iterdir()):
                yield path.name, 0x4000 if path.is_dir() else 0x8000

        return types.SimpleNamespace(
            mkdir=changes(Path.mkdir),
            rmdir=changes(Path.rmdir),
            remove=changes(Path.unlink),
            rename=changes(rename),
            ilistdir=ilistdir,
            listdir=lambda name: [path.name for path in self.path(name).iterdir()],
            stat=lambda name: self.path(name).stat(),
            statvfs=lambda name: (BLOCK, BLOCK, self.blocks, self.free()),
        )


class Transport:
    """mpremote's transport, with the code it is to run run here."""

    in_raw_repl = True

    def __init__(self, disk: Disk):
        self.disk = disk

    def exec(self, code):
        printed = []

        def load(name, *rest):
            if name == "os":
                return self.disk.module()
            if name == "buslock":
                assert self.disk.path("/lib/buslock").is_dir()
                return types.SimpleNamespace(__file__="/lib/buslock/__init__.mpy", __version__="0.1.0")
            return builtins.__import__(name, *rest)

        inside = {
            "__import__": load,
            "open": lambda name, mode="r": open(self.disk.path(name), mode),
            "print": lambda *words: printed.append(" ".join(map(str, words))),
        }
        self.disk.step()
        try:
            exec(code, {"__builtins__": {**vars(builtins), **inside}})
        except serial.SerialException:
            raise
        except Exception as e:
            raise TransportExecError(1, f"OSError: [Errno {getattr(e, 'errno', 0)}] {e!r}") from None
        return "\n".join(printed).encode() + b"\r\n"

    def fs_writefile(self, name, data, chunk_size=256):
        self.disk.step()
        if self.disk.readonly:
            raise OSError(errno.EROFS, name)
        if self.disk.free() < -(-len(data) // BLOCK):
            raise OSError(errno.ENOSPC, name)
        self.disk.path(name).write_bytes(data[: len(data) // 2])  # and then the rest
        self.disk.step()
        self.disk.path(name).write_bytes(b"spoilt" if self.disk.spoils == name.rsplit("/", 1)[1] else data)


def board(disk: Disk, **about) -> Board:
    it = object.__new__(Board)
    it.port = Port("/dev/ttyTEST", "Board in FS mode", "123")
    it.transport = Transport(disk)  # pyright: ignore[reportAttributeAccessIssue]
    known = {
        "name": "micropython",
        "version": (1, 26, 1),
        "platform": "rp2",
        "machine": "Raspberry Pi Pico with RP2040",
    }
    it.info = Info(**{**known, "mpy": 0x1306, "path": ["", ".frozen", "/lib"], **about})
    return it


def copy(disk: Disk, files=None, said=None):
    say = (lambda *text: said.append(text[0])) if said is not None else lambda *text: None
    return deploy_copy.Copy(board(disk), "buslock", NEW if files is None else files, say).run()


def on_disk(root: Path) -> dict[str, bytes] | None:
    folder = root / "lib" / "buslock"
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else None


def with_old(root: Path) -> Path:
    (root / "lib" / "buslock").mkdir(parents=True)
    for name, data in OLD.items():
        (root / "lib" / "buslock" / name).write_bytes(data)
    return root


def test_copies_to_an_empty_board(tmp_path):
    said = []
    assert copy(Disk(tmp_path), said=said)
    assert on_disk(tmp_path) == NEW
    assert [path.name for path in (tmp_path / "lib").iterdir()] == ["buslock"]
    assert "  2/3   0% buslock/i2c.mpy (6 bytes)" in said


def test_the_new_package_has_nothing_of_the_old(tmp_path):
    """A .py of the same name would be found before the .mpy."""
    assert copy(Disk(with_old(tmp_path)))
    assert on_disk(tmp_path) == NEW


def test_what_is_there_already_is_not_copied_again(tmp_path):
    copy(Disk(tmp_path))
    disk = Disk(tmp_path)
    assert not copy(disk)
    assert disk.steps < 8


@pytest.mark.parametrize("blocks", [100, 7], ids=["room for two", "room for one"])
@pytest.mark.parametrize("start", [OLD, None], ids=["old there", "empty"])
def test_no_lost_connection_leaves_half_a_package(tmp_path, blocks, start):
    """At whatever step the cable is pulled: the old package is there, or the new one, or none; and then all is well."""
    step, outcomes = 0, []
    while True:
        step += 1
        root = tmp_path / str(step)
        root.mkdir()
        if start:
            with_old(root)
        disk = Disk(root, blocks, lost_at=step)
        try:
            copy(disk)
        except DeployError as e:
            assert "was lost" in str(e) and "start again" in str(e)
        found = on_disk(root)
        assert found in (start, NEW, None), f"half a package when the connection is lost at step {step}"
        outcomes.append(found)
        assert copy(Disk(root, blocks)) is (found != NEW)
        assert on_disk(root) == NEW
        assert [path.name for path in (root / "lib").iterdir()] == ["buslock"]
        if disk.steps < step:
            break
    assert len(outcomes) > 15 and None in outcomes and NEW in outcomes


def test_full_disk(tmp_path):
    with pytest.raises(DeployError, match=r"disk is full: it needs 24 KB and 12 KB are free.*--only i2c"):
        copy(Disk(tmp_path, blocks=3))
    assert on_disk(tmp_path) is None
    with_old(tmp_path)
    with pytest.raises(DeployError, match="24 KB and 16 KB are free, without the package that is there"):
        copy(Disk(tmp_path, blocks=4))
    assert on_disk(tmp_path) == OLD


def test_disk_that_is_full_before_it_said_so(tmp_path):
    disk = Disk(with_old(tmp_path), blocks=100)
    disk.free = iter([100, 1, 1, 0]).__next__
    with pytest.raises(DeployError, match=r"disk is full: it ended at i2c\.mpy|it ended at lock\.mpy"):
        copy(disk)
    assert on_disk(tmp_path) == OLD
    assert not (tmp_path / "lib" / "buslock.new").exists()


def test_file_that_is_not_stored_as_sent(tmp_path):
    disk = Disk(with_old(tmp_path))
    disk.spoils = "lock.mpy"
    with pytest.raises(DeployError, match=r"has not stored lock\.mpy as sent"):
        copy(disk)
    assert on_disk(tmp_path) == OLD


def test_a_slow_board_is_heard_of_while_it_reads_back(tmp_path):
    """mpremote gives up a board that says nothing for 10 s, and reading everything back can take longer."""
    disk = Disk(tmp_path)
    it = board(disk)
    copy(disk)
    lines = it.run(deploy_copy.HASHES.format(folder="/lib/buslock")).splitlines()
    assert len(lines) == len(NEW)


def test_read_only_disk(tmp_path):
    disk = Disk(tmp_path)
    disk.readonly = True
    with pytest.raises(DeployError, match="read-only"):
        copy(disk)


def test_wrong_runtimes(tmp_path):
    disk = Disk(tmp_path)
    with pytest.raises(DeployError, match=r"CircuitPython 10\.2\.1: CircuitPython's files .* CIRCUITPY.*circup"):
        board(disk, name="circuitpython", version=(10, 2, 1)).check()
    with pytest.raises(DeployError, match=r"MicroPython 1\.21\.0: buslock needs MicroPython 1\.22 or newer"):
        board(disk, version=(1, 21, 0)).check()
    with pytest.raises(DeployError, match="needs MicroPython or CircuitPython"):
        board(disk, name="espruino").check()
    board(disk).check()


def test_mpy_version_of_the_board(tmp_path):
    with pytest.raises(DeployError, match=r"reads \.mpy files of version 5, and mpy-cross makes version 6: .*--source"):
        deploy.install(board(Disk(tmp_path), mpy=5), {"buslock/__init__.mpy": b"M\x06"}, lambda *text: None)
    deploy.install(board(Disk(tmp_path), mpy=5), {"buslock/__init__.py": b""}, lambda *text: None)
    assert on_disk(tmp_path) == {"__init__.py": b""}


def test_no_board_and_several():
    with pytest.raises(DeployError, match=r"no board found.*cable.*BOOTSEL"):
        deploy_board.choose(None, [])
    two = [Port("/dev/ttyACM0", "Pico", "E66"), Port("/dev/ttyACM1", "ESP32", "7C9")]
    with pytest.raises(DeployError, match=r"2 boards found; say which one:\n  --port /dev/ttyACM0 Pico \[E66\]\n"):
        deploy_board.choose(None, two)
    assert deploy_board.choose("/dev/ttyACM1", two) is two[1]
    assert deploy_board.choose(None, two[:1]) is two[0]
    assert deploy_board.choose("/dev/ttyS9", two).device == "/dev/ttyS9"


def test_port_that_is_not_there():
    with pytest.raises(DeployError, match="there is no port /dev/ttyNOBODY"):
        Board(Port("/dev/ttyNOBODY"))


def open_pty() -> tuple[int, str]:
    master, slave = pty.openpty()
    name = os.ttyname(slave)
    os.close(slave)
    return master, name


def test_port_in_use():
    master, name = open_pty()
    with contextlib.closing(serial.Serial(name, exclusive=True)):
        with pytest.raises(DeployError, match="in use by another program.*close that"):
            Board(Port(name))
    os.close(master)


def test_board_that_does_not_answer():
    master, name = open_pty()
    with pytest.raises(DeployError, match="does not answer like MicroPython.*reset button"):
        Board(Port(name), limit=0.3)

    def modem():
        os.read(master, 100)
        time.sleep(0.1)
        os.write(master, b"AT ERROR\r\n")

    answering = threading.Thread(target=modem)
    answering.start()
    with pytest.raises(DeployError, match="it said b'.*AT ERROR"):
        Board(Port(name), limit=0.5)
    answering.join()
    os.close(master)


def test_boards_for_a_program(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import boards\nboard = boards.this_board()\n")
    said = []
    disk = Disk(tmp_path / "disk")
    disk.root.mkdir()
    disk.path("/lib").mkdir()
    deploy_boards.put_boards(board(disk), program, said.append)
    assert {path.name for path in disk.path("/lib/boards").iterdir()} == {"__init__.py", "pico.py"}
    disk.path("/lib/boards/pico.py").write_text("mine")
    deploy_boards.put_boards(board(disk), program, said.append)
    assert disk.path("/lib/boards/pico.py").read_text() == "mine"
    assert "stays as it is" in said[-1]
    with pytest.raises(DeployError, match="no file in boards/ for this board"):
        deploy_boards.put_boards(board(disk, machine="Some other with STM32"), program, said.append)


def command(*arguments: str) -> subprocess.CompletedProcess:
    script = str(environment.ROOT / "tools" / "deploy.py")
    return subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, timeout=600)


def test_command_line_errors():
    done = command("--port", "/dev/ttyNOBODY", "--only", "errors")
    assert (done.returncode, done.stderr.strip()) == (
        1,
        "there is no port /dev/ttyNOBODY; `python3 tools/deploy.py --list` shows those that are there",
    )
    assert "Traceback" not in command("--only", "nonsense").stderr
    assert command("--list").returncode == 0


@contextlib.contextmanager
def emulated_port(*arguments: str):
    """The serial port of an emulated Pico."""
    needs_pico()
    script = str(environment.ROOT / "tools" / "pico" / "port.py")
    process = subprocess.Popen(
        [sys.executable, script, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        assert process.wait(30) == 0
        process.stdout.close()


def test_on_the_emulated_pico(tmp_path):
    """Copied, found there already, and a program run with what it prints and its errors."""
    program = tmp_path / "program.py"
    program.write_text("from buslock.errors import NoAck\nprint('ran', NoAck.__name__)\n1 / 0\n")
    with emulated_port() as port:
        done = command("--port", port, "--only", "errors")
        assert done.returncode == 0, done.stderr
        assert "Raspberry Pi Pico with RP2040, MicroPython" in done.stdout
        assert "copied, and read back as sent" in done.stdout
        assert f"in /lib/buslock, {len(deploy_build.chosen(['errors']))} modules" in done.stdout
        done = command("--port", port, "--only", "errors", "--run", str(program))
        assert "the board has exactly this already" in done.stdout
        assert "ran NoAck\n" in done.stdout
        assert done.returncode == 1
        assert "ZeroDivisionError" in done.stderr


def test_full_disk_of_the_emulated_pico():
    with emulated_port("--full", "8") as port:
        done = command("--port", port, "--only", "errors", "--source")
        assert done.returncode == 1
        assert "the board's disk is full" in done.stderr


def mpremote(port: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mpremote", "connect", port, *arguments],
        capture_output=True,
        text=True,
        timeout=3600,
        cwd=environment.ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# For each package file a program that uses what it installs with what is on the emulated Pico's pins, and what it prints.
PROGRAMS = {
    "locks": (
        """
from buslock import Lock, LockTable, deadline
lock, table = Lock(), LockTable()
async def use():
    async with deadline(1000), lock, table.hold("key"):
        return lock.locked(), len(table)
""",
        "(True, 1)",
    ),
    "i2c": (
        """
from machine import I2C, Pin
from buslock import I2CBus
bus = I2CBus(lambda: I2C(0, scl=Pin(5), sda=Pin(4)), scl=5, sda=4)
async def use():
    return await bus.read_register(0x48, 0x00, 2)
""",
        r"b'\n\xc0'",
    ),
    "spi": (
        """
from machine import Pin, SPI
from buslock import SPIBus
bus = SPIBus(lambda: SPI(0, sck=Pin(18), mosi=Pin(19), miso=Pin(16)))
async def use():
    got = bytearray(2)
    await bus.device(Pin(17), baudrate=1_000_000).write_readinto(b"\\x01\\x02", got)
    return got
""",
        r"bytearray(b'\xfe\xfd')",
    ),
    "uart": (
        """
from machine import Pin, UART
from buslock import UARTBus
bus = UARTBus(lambda: UART(0, 115200, tx=Pin(0), rx=Pin(1), timeout=0))
async def use():
    return await bus.device().exchange(b"hello\\n", until=b"\\n")
""",
        r"b'pong hello\n'",
    ),
}
END = """
import asyncio, buslock
print(asyncio.run(use()), buslock.__file__)
"""


def minutes(request):
    needs_pico()
    if not request.config.getoption("--all"):
        pytest.skip("mpremote takes minutes to fill the emulated Pico's disk; its install paths are tried with --all")


def uses(port: str, program: str, file: str = "/lib/buslock/__init__.py", *before: str) -> None:
    """What was installed works, and is what the program has imported."""
    code, expected = PROGRAMS[program]
    assert f"{expected} {file}" in mpremote(port, *before, "exec", code + END)


def test_mount_on_the_emulated_pico(request):
    """The library stays on the desk."""
    minutes(request)
    with emulated_port() as port:
        for program in PROGRAMS:
            uses(port, program, "buslock/__init__.py", "mount", "lib")


def test_copy_to_the_emulated_pico(request):
    """All sources."""
    minutes(request)
    with emulated_port() as port:
        mpremote(port, "mkdir", ":lib")
        mpremote(port, "cp", "-r", "lib/buslock", ":lib/")
        for program in PROGRAMS:
            uses(port, program)


def package_file(name: str) -> str:
    return "package.json" if name == "all" else f"package-{name}.json"


@pytest.mark.parametrize("package", [*PROGRAMS, "all"])
def test_what_mip_installs_is_enough_on_the_emulated_pico(package, tmp_path):
    """The sources that a package file lists, and nothing else, on the board's disk; they are compiled at the import."""
    needs_pico()
    program = tmp_path / "program.py"
    for name in PROGRAMS if package == "all" else [package]:
        code, expected = PROGRAMS[name]
        program.write_text(code + END)
        options = ["--package", str(environment.ROOT / package_file(package))]
        done = subprocess.run(
            [sys.executable, str(environment.ROOT / "tools" / "pico" / "script.py"), str(program), *options],
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{expected} /lib/buslock/__init__.py" in done.stdout


@pytest.mark.parametrize("package", [*PROGRAMS, "all"])
def test_mip_on_the_emulated_pico(package, request):
    """From the local package files: each installs all that its program needs."""
    minutes(request)
    with emulated_port() as port:
        mpremote(port, "mip", "install", package_file(package))
        for program in PROGRAMS if package == "all" else [package]:
            uses(port, program)


def test_mpremote_on_the_emulated_pico(tmp_path):
    """Its three ways with two files; with all of them it takes minutes, see the tests above."""
    used = "from buslock.errors import NoAck; import buslock; print(NoAck.__name__, buslock.__file__)"
    part = tmp_path / "lib" / "buslock"
    part.mkdir(parents=True)
    for name in ("__init__.py", "errors.py"):
        (part / name).write_bytes((deploy_build.LIBRARY / name).read_bytes())
    urls = [[f"buslock/{path.name}", f"lib/buslock/{path.name}"] for path in part.iterdir()]
    (tmp_path / "package.json").write_text(json.dumps({"version": "1", "urls": urls}))
    with emulated_port() as port:
        assert "NoAck buslock/__init__.py" in mpremote(port, "mount", "lib", "exec", used)
        mpremote(port, "mkdir", ":lib")
        mpremote(port, "cp", "-r", str(part), ":lib/")
        assert "NoAck /lib/buslock/__init__.py" in mpremote(port, "exec", used)
        mpremote(port, "rm", "-r", ":lib/buslock")
        mpremote(port, "mip", "install", str(tmp_path / "package.json"))
        assert "NoAck /lib/buslock/__init__.py" in mpremote(port, "exec", used)
