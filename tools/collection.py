"""How pytest sees the device-side tests: each is one item per runtime, `tests/test_lock.py::micropython::test_fifo`.

tests/conftest.py takes the hooks from here. Test modules are read, not imported (tools/testfile.py); what was selected
of one module on one runtime runs in one process (tools/jobs.py), started before the first item is asked for its result.
"""

import os
import shutil
import tempfile
import types
from pathlib import Path

import pytest
from _pytest._code.code import TerminalRepr

from tools import assertions, jobs, runtimes, testfile, tracebacks

_SLOW = pytest.StashKey[list]()
_JOBS = pytest.StashKey[list]()
_FOLDER = pytest.StashKey[Path]()


def pytest_addoption(parser):
    group = parser.getgroup("buslock")
    group.addoption(
        "--runtime",
        action="append",
        choices=list(runtimes.ALL),
        help="run on this runtime only (may be given more than once)",
    )
    group.addoption(
        "--wrapping",
        action="store_true",
        help="run each test again, with ticks that wrap in the middle of it",
    )
    group.addoption("--all", action="store_true", help="also run the tests marked slow")


def pytest_configure(config):
    config.stash[_SLOW] = []
    config.stash[_JOBS] = []
    config.stash[_FOLDER] = Path(tempfile.mkdtemp(prefix="buslock-tests-")).resolve()


def pytest_unconfigure(config):
    for job in config.stash.get(_JOBS, []):
        job.stop()
    if _FOLDER in config.stash:
        shutil.rmtree(config.stash[_FOLDER], ignore_errors=True)


def pytest_report_header(config):
    lines = []
    for runtime in runtimes.ALL.values():
        missing = runtime.missing()
        if missing:
            lines.append(f"runtime {runtime.name} left out: {missing}")
    return lines


def pytest_pycollect_makemodule(module_path, parent):
    try:
        file = testfile.read(module_path)
    except testfile.TestFileError as e:
        raise parent.CollectError(str(e)) from None
    if file.is_host:
        return None
    return DeviceModule.from_parent(parent, path=module_path, file=file)


class DeviceModule(pytest.File):
    """A test module that runs on the device side."""

    def __init__(self, *, file: testfile.TestFile, **kwargs):
        super().__init__(**kwargs)
        self.file = file

    def collect(self):
        wanted = self.config.getoption("--runtime")
        if not wanted:
            wanted = [runtime.name for runtime in runtimes.ALL.values() if runtime.default or not runtime.missing()]
        named = self.file.runtimes
        for name in named or ():
            if name not in runtimes.ALL:
                known = ", ".join(runtimes.ALL)
                raise self.CollectError(f"{self.path}: RUNTIMES names {name!r}; known are {known}")
        for runtime in runtimes.ALL.values():
            if runtime.name in wanted and (named is None or runtime.name in named):
                yield DeviceRuntime.from_parent(self, name=runtime.name, file=self.file, runtime=runtime)


class DeviceRuntime(pytest.Collector):
    """One runtime's tests of one module."""

    def __init__(self, *, file: testfile.TestFile, runtime: runtimes.Runtime, **kwargs):
        super().__init__(**kwargs)
        self.file = file
        self.runtime = runtime
        self.job: jobs.Job | None = None

    def collect(self):
        for name in self.file.tests:
            yield DeviceTest.from_parent(self, name=name, file=self.file, collector=self)


class DeviceFailure(Exception):
    """A test failed on the device side; the text is what is shown."""


class FailureText(TerminalRepr):
    """What pytest shows of a DeviceFailure."""

    def __init__(self, text: str):
        self.text = text
        # Shown in pytest's short summary.
        self.reprcrash = types.SimpleNamespace(message=_headline(text))

    def toterminal(self, tw):
        for line in self.text.splitlines():
            tw.line(line, red=not line.startswith((" ", "Traceback")))

    def __str__(self):
        return self.text


def _headline(text: str) -> str:
    """The exception if there is a traceback and nothing was said before it, else what was said."""
    lines = text.splitlines() or [""]
    if not lines[0].startswith(("Traceback", jobs.NOT_IMPORTED)):
        return " ".join(lines[:2])
    last_frame = max((i for i, line in enumerate(lines) if line.lstrip().startswith("File ")), default=0)
    return next((line for line in lines[last_frame + 1 :] if not line.startswith(" ")), lines[0])


class DeviceTest(pytest.Item):
    """One test on one runtime."""

    def __init__(self, *, file: testfile.TestFile, collector: DeviceRuntime, **kwargs):
        super().__init__(**kwargs)
        self.file = file
        self.collector = collector
        self.seconds = 0.0

    @property
    def left_out(self) -> str | None:
        return self.file.left_out(self.name, self.collector.runtime.name)

    def runtest(self):
        if self.left_out:
            pytest.skip(self.left_out)
        job = self.collector.job
        if job is None:
            pytest.skip(self.collector.runtime.missing() or "the harness has started no process for it")
        result = job.result(self.name)
        self.seconds = result.seconds
        if result.output:
            self.add_report_section("call", "output", result.output)
        if result.outcome == "skipped":
            pytest.skip(result.text)
        if result.outcome == "failed":
            moved = {str(job.request.folder): str(job.request.origin)}
            raise DeviceFailure(tracebacks.present(result.text, moved, runtimes.ROOT))

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, DeviceFailure):
            return FailureText(str(excinfo.value))
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, self.file.tests[self.name] - 1, f"{self.name} [{self.collector.name}]"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if isinstance(item, DeviceTest) and call.when == "call":
        report.duration = item.seconds  # and not how long the host waited for it
    return report


def pytest_collection_modifyitems(config, items):
    if config.getoption("--all"):
        return
    slow = [item for item in items if isinstance(item, DeviceTest) and item.file.is_slow(item.name)]
    if slow:
        config.stash[_SLOW] = slow
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]


def pytest_runtestloop(session):
    option = session.config.option
    if option.collectonly or (session.testsfailed and not option.continue_on_collection_errors):
        return
    chosen: dict[DeviceRuntime, list[DeviceTest]] = {}
    for item in session.items:
        if isinstance(item, DeviceTest) and not (item.left_out or item.collector.runtime.missing()):
            chosen.setdefault(item.collector, []).append(item)
    for collector, items in chosen.items():
        collector.job = _job(session.config, collector, items)
        session.config.stash[_JOBS].append(collector.job)
    jobs.run_all(session.config.stash[_JOBS], workers=min(4, os.cpu_count() or 1))


def _job(config, collector: DeviceRuntime, items: list[DeviceTest]) -> jobs.Job:
    file = items[0].file
    folder = config.stash[_FOLDER] / str(abs(hash(file.path.parent)))
    folder.mkdir(exist_ok=True)
    rewritten = folder / file.path.name
    if not rewritten.exists():
        rewritten.write_text(assertions.rewrite(file.source), encoding="utf-8")
    request = runtimes.Request(
        folder=folder,
        origin=file.path.parent,
        module=file.name,
        clock=file.clock + ("+wrapping" if config.getoption("--wrapping") else ""),
        tests=[item.name for item in items],
        heap=file.heap,
    )
    return jobs.Job(collector.runtime, request, time_limit=file.time_limit, alone=file.alone)


def pytest_terminal_summary(terminalreporter, config):
    slow = config.stash[_SLOW]
    if slow:
        terminalreporter.line(f"{len(slow)} slow tests were left out; run them too with --all")
