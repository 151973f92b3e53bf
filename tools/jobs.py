"""Running the tests of one module on one runtime, in one process, or in several if one dies on the way."""

import json
import os
import queue
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field

from tools import environment
from tools.runtimes import Request, Runtime

MARK = "@@buslock "  # as in tests/runner.py
LOAD_LIMIT = 60.0  # seconds for the start of the runtime and the import of the module
END_LIMIT = 10.0
INTERRUPT_LIMIT = 2.0  # for a hanging process to say where it hangs, after SIGINT
NOT_IMPORTED = "The module could not be imported."
LONGEST_OUTPUT = 20000  # characters kept of what one test prints


@dataclass
class Result:
    outcome: str  # passed, failed or skipped
    text: str = ""  # traceback or reason
    seconds: float = 0.0
    output: str = ""


@dataclass
class Job:
    runtime: Runtime
    request: Request
    time_limit: float
    alone: bool = False
    results: dict[str, Result] = field(default_factory=dict)

    def __post_init__(self):
        self._changed = threading.Condition()
        self._process: subprocess.Popen | None = None
        self._stopped = False

    def result(self, test: str) -> Result:
        """Waits for it."""
        with self._changed:
            self._changed.wait_for(lambda: test in self.results)
        return self.results[test]

    def run(self) -> None:
        try:
            left = list(self.request.tests)
            while left and not self._stopped:
                self._run_process(left)
                left = [test for test in left if test not in self.results]
        except BaseException as e:
            self._fail_all(f"The harness itself failed: {e!r}")
            raise
        if self._stopped:
            self._fail_all("The test run was stopped.")

    def stop(self) -> None:
        self._stopped = True
        if self._process:
            self._process.kill()

    def _set(self, test: str, result: Result) -> None:
        with self._changed:
            self.results[test] = result
            self._changed.notify_all()

    def _fail_all(self, text: str, output: str = "") -> None:
        for test in self.request.tests:
            if test not in self.results:
                self._set(test, Result("failed", text, output=output))

    def _run_process(self, tests: list[str]) -> None:
        request = Request(**{**vars(self.request), "tests": tests})
        command, variables = self.runtime.command(request)
        process = self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=environment.ROOT,
            env={**_clean_environment(), **variables},
        )
        try:
            _Conversation(self, process).follow()
        finally:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


class _Conversation:
    """One process's lines, read until it ends or says nothing for too long."""

    def __init__(self, job: Job, process: subprocess.Popen):
        self.job = job
        self.process = process
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.test: str | None = None  # that is running
        self.last: str | None = None  # that has ended
        self.output: list[str] = []
        self.done = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        try:
            for line in self.process.stdout:
                self.lines.put(line.decode(errors="replace"))
        except ValueError:
            pass  # closed, because nobody listens any more
        self.lines.put(None)

    def follow(self) -> None:
        patience = self.job.runtime.patience
        limit = LOAD_LIMIT * patience
        deadline = time.monotonic() + limit
        while True:
            try:
                line = self.lines.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                self._hanging(limit)
                return
            if line is None:
                self._ended()
                return
            event = self._event(line)
            if event:
                limit = (END_LIMIT if self.done else self.job.time_limit if self.test else LOAD_LIMIT) * patience
                deadline = time.monotonic() + limit

    def _event(self, line: str) -> bool:
        printed, mark, text = line.partition(MARK)
        if printed.rstrip("\r\n") or not mark:
            self.output.append(printed)
        if not mark:
            return False
        event = json.loads(text)
        kind = event["event"]
        if kind == "start":
            self.test = event["test"]
            if self.last:
                self.output.clear()
        elif kind == "end":
            self.done = True
        elif kind.startswith("test-"):
            outcome = {"test-pass": "passed", "test-fail": "failed", "test-skip": "skipped"}[kind]
            self._set(event["test"], outcome, event.get("text") or event.get("reason", ""), event["ms"] / 1000)
        elif kind == "load-fail":
            self.done = True
            self.job._fail_all(f"{NOT_IMPORTED}\n{event['text']}", self._printed())
        elif kind == "load-skip":
            self.done = True
            for test in self.job.request.tests:
                self.job._set(test, Result("skipped", event["reason"]))
        return True

    def _set(self, test: str, outcome: str, text: str, seconds: float = 0.0) -> None:
        self.job._set(test, Result(outcome, text, seconds, self._printed()))
        self.last = test
        self.test = None
        self.output.clear()

    def _printed(self) -> str:
        text = "".join(self.output)
        if len(text) > LONGEST_OUTPUT:
            half = LONGEST_OUTPUT // 2
            text = f"{text[:half]}\n... {len(text) - 2 * half} characters ...\n{text[-half:]}"
        return text

    def _hanging(self, limit: float) -> None:
        """Asks where it hangs, and ends it."""
        test, text = self.test, ""
        for _ in range(2):  # CPython's asyncio takes the first interrupt for a wish to cancel the test
            self.process.send_signal(signal.SIGINT)
            try:
                while (line := self.lines.get(timeout=INTERRUPT_LIMIT)) is not None:
                    _, mark, event = line.partition(MARK)
                    if mark:
                        text = json.loads(event).get("text") or text
                    else:
                        self.output.append(line)
                break
            except queue.Empty:
                continue
        where = f"\nIt was interrupted here:\n{text}" if text else "\nIt did not react to an interrupt."
        if test:
            self._set(test, "failed", f"The test did not end within {limit:.0f} s (TIME_LIMIT).{where}")
        elif not self.done:
            self.job._fail_all(f"No test had started within {limit:.0f} s.{where}", self._printed())
        else:
            self._blame_last(f"The process did not end within {limit:.0f} s after the last test.")

    def _ended(self) -> None:
        status = self.process.wait()
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        if self.test:
            self._set(self.test, "failed", f"The process ended in the middle of the test, with {how}.")
        elif not self.done and self.last is None:
            self.job._fail_all(f"The process ended before any test, with {how}.", self._printed())
        elif status:
            self._blame_last(f"The process ended with {how} after this test had passed.")

    def _blame_last(self, text: str) -> None:
        if self.last and self.job.results[self.last].outcome == "passed":
            self._set(self.last, "failed", text)


def _clean_environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "MICROPY"))}


def run_all(jobs: list[Job], workers: int) -> threading.Thread:
    """Starts the jobs, several at a time; those that want to be alone come last, one by one."""

    def together():
        waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for job in jobs:
            if not job.alone:
                waiting.put(job)

        def work():
            while True:
                try:
                    job = waiting.get_nowait()
                except queue.Empty:
                    return
                job.run()

        threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for job in jobs:
            if job.alone:
                job.run()

    thread = threading.Thread(target=together, daemon=True)
    thread.start()
    return thread
