"""The timeline page in a real browser: what it draws, and that mouse, keyboard and search do what they say.

Needs Debian's packages chromium and chromium-driver; without them it is skipped, and says so. With
BUSLOCK_SCREENSHOTS=folder it leaves pictures there to look at.
"""
# pyright: reportMissingImports=false

import importlib
import os
import shutil
from pathlib import Path

import pytest
import trace_scenes

from tools import environment
from tools.timeline import findings, page, reader, spans

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("no chromium and chromedriver: apt-get install chromium chromium-driver", allow_module_level=True)

environment.ensure("browser")
importlib.invalidate_caches()

from selenium import webdriver  # noqa: E402
from selenium.webdriver import ActionChains, Keys  # noqa: E402
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

FLAGS = """--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking
--disable-component-update --disable-sync --window-size=1280,860 --force-device-scale-factor=1""".split()


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


class Page:
    """The page of one scene, freshly loaded."""

    def __init__(self, driver, folder, name, text):
        (found,) = reader.parse(text or getattr(trace_scenes, name)().dump())
        self.driver, self.timeline = driver, spans.build(found)
        self.file = folder / f"{name}.html"
        self.file.write_text(page.text(self.timeline, name), encoding="utf-8")
        driver.get(self.file.as_uri())
        self.canvas = driver.find_element(By.ID, "lanes")
        self.settle()

    def run(self, script, *args):
        return self.driver.execute_script(script, *args)

    def settle(self):
        """Until what was asked for is drawn."""
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    @property
    def view(self):
        return tuple(self.run("return [timeline.drawing.from, timeline.drawing.to]"))

    def text(self, name):
        return self.driver.find_element(By.ID, name).text

    def labels(self):
        return [each.text for each in self.driver.find_elements(By.CSS_SELECTOR, "#labels button")]

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()
        self.settle()

    def place(self, i, lane_name=None):
        """Where the middle of a span is drawn on the canvas."""
        return self.run(
            """const [i, name] = arguments, d = timeline.drawing;
            for (const lane of timeline.lanes) for (const [r, row] of lane.rows.entries()) {
              if (lane.hidden || (name && lane.name !== name) || !row.spans.includes(i)) continue;
              const middle = data.start[i] + data.length[i] / 2;
              return [d.x(middle), lane.y + PAD + (r + 0.5) * lane.row - d.scrolled];
            }""",
            i,
            lane_name,
        )

    def pointer(self, x, y):
        """The canvas's own coordinates; selenium counts from its middle."""
        size = self.canvas.size
        return ActionChains(self.driver, duration=0).move_to_element_with_offset(
            self.canvas, round(x - size["width"] / 2), round(y - size["height"] / 2)
        )

    def pixel(self, x, y):
        # Through a canvas that is made to be read, else Chromium has something to say about it.
        script = """const c = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
            c.drawImage(document.getElementById("lanes"), -arguments[0], -arguments[1]);
            return [...c.getImageData(0, 0, 1, 1).data]"""
        return self.run(script, x, y)

    def colour(self, name):
        script = """const c = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
            c.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--" + arguments[0]).trim();
            c.fillRect(0, 0, 1, 1);
            return [...c.getImageData(0, 0, 1, 1).data]"""
        return self.run(script, name)

    def number(self, test):
        return next(i for i, span in enumerate(self.timeline.spans) if test(span))


@pytest.fixture
def load(driver, tmp_path):
    """Loads the page of a scene; at the end nothing may have been said on the console."""
    driver.get_log("browser")
    yield lambda name, text=None: Page(driver, tmp_path, name, text)
    assert driver.get_log("browser") == []


def test_lanes_findings_and_legend(load):
    shown = load("contention")
    assert shown.labels() == ["i2c0 wire", "i2c0/0x3c", "i2c0/0x48", "i2c0/0x68", "display", "sensor", "clock"]
    assert shown.text("head").startswith("995 ms of trace: 396 events, 3 tasks, 3 keys")
    assert "sensor misses its deadline" in shown.text("found")
    assert shown.text("legend").split("\n")[0].startswith("waits")
    (sections,) = [[each.text for each in shown.driver.find_elements(By.CSS_SELECTOR, "#labels div")]]
    assert sections == ["WIRES", "KEYS", "TASKS"]


def test_each_kind_has_its_colour_where_it_is(load):
    shown = load("contention")
    kinds = {
        "hold": lambda span: span.kind == "hold" and span.length > 80_000,
        "transfer": lambda span: span.kind == "transfer" and span.length > 8_000,
        "bad": lambda span: span.bad,
    }
    for name, test in kinds.items():
        x, y = shown.place(shown.number(test))
        # Beside a label of its own, and off the lines of the grid.
        assert any(shown.pixel(int(x) + by, int(y)) == shown.colour(name) for by in (0, 2, 4)), name
    x, y = shown.place(shown.number(lambda span: span.kind == "wait" and not span.bad and span.length > 10_000))
    assert shown.pixel(int(x), int(y)) == shown.colour("wait")


def test_a_wide_span_that_begins_beside_a_narrow_one_is_drawn(load):
    shown = load("contention")
    wide = [i for i, span in enumerate(shown.timeline.spans) if span.kind == "transfer" and span.length > 8_000]
    for i in wide:
        x, y = shown.place(i, "i2c0 wire")
        assert any(shown.pixel(int(x) + by, int(y)) == shown.colour("transfer") for by in (0, 2)), i


def test_wheel_zooms_at_the_pointer_and_drag_moves(load):
    shown = load("contention")
    at = shown.run("return timeline.drawing.time(300)")
    box = shown.canvas.size
    origin = ScrollOrigin.from_element(shown.canvas, round(300 - box["width"] / 2), 0)
    ActionChains(shown.driver).scroll_from_origin(origin, 0, -240).perform()
    shown.settle()
    start, end = shown.view
    assert end - start < 0.8 * shown.timeline.end
    assert shown.run("return timeline.drawing.time(300)") == pytest.approx(at, abs=(end - start) / 300)
    shown.pointer(400, 60).click_and_hold().move_by_offset(-100, 0).release().perform()
    shown.settle()
    moved = shown.view
    assert moved[0] - start == pytest.approx((end - start) * 100 / box["width"], rel=0.02)
    assert moved[1] - moved[0] == pytest.approx(end - start)
    assert "Click a span" in shown.text("details")  # a drag is no click


def test_keyboard_zooms_moves_and_goes_back(load):
    shown = load("contention")
    whole = shown.view
    shown.press("+", "+", "+")
    zoomed = shown.view
    assert zoomed[1] - zoomed[0] == pytest.approx((whole[1] - whole[0]) / 1.5**3)
    shown.press(Keys.ARROW_RIGHT)
    assert shown.view[0] - zoomed[0] == pytest.approx((zoomed[1] - zoomed[0]) / 8)
    shown.press(Keys.ARROW_LEFT)
    assert shown.view == pytest.approx(zoomed)
    shown.press("-")
    assert shown.view[1] - shown.view[0] > zoomed[1] - zoomed[0]
    shown.press(Keys.END)
    assert shown.view[1] == pytest.approx(whole[1])
    shown.press(Keys.HOME)
    assert shown.view == pytest.approx(whole)
    shown.press(*["-"] * 5)
    assert shown.view == pytest.approx(whole)  # never further than all of it


def test_the_buttons_and_a_finding_zoom(load):
    shown = load("contention")
    whole = shown.view
    shown.driver.find_element(By.ID, "in").click()
    assert shown.view[1] - shown.view[0] < whole[1] - whole[0]
    shown.driver.find_element(By.ID, "fit").click()
    assert shown.view == pytest.approx(whole)
    shown.driver.find_elements(By.CSS_SELECTOR, "#found button")[1].click()
    start, end = shown.view
    found = findings.find(shown.timeline)[1]
    assert start < found.start < found.end < end and end - start < 2 * (found.end - found.start)


def test_hover_shows_and_click_keeps_the_details(load):
    shown = load("contention")
    missed = shown.number(lambda span: span.bad)
    shown.pointer(*shown.place(missed)).perform()
    shown.settle()
    tip = shown.text("tip")
    assert (
        tip.startswith("wait 20 ms\ntask: sensor\nkey: i2c0/0x48\n") and "behind: display" in tip and "timed out" in tip
    )
    shown.pointer(*shown.place(missed)).click().perform()
    shown.settle()
    assert shown.text("details").startswith("wait of sensor")
    shown.pointer(5, shown.canvas.size["height"] - 8).perform()
    assert not shown.driver.find_element(By.ID, "tip").is_displayed()
    assert shown.text("details").startswith("wait of sensor")
    transfer = shown.number(lambda span: span.kind == "transfer" and span.length > 8_000)
    shown.pointer(*shown.place(transfer)).click().perform()
    assert "bytes\n128" in shown.text("details") and "for\ni2c0/0x3c" in shown.text("details")


def test_a_narrow_span_is_hit_from_beside(load):
    shown = load("contention")
    i = shown.number(lambda span: span.kind == "transfer" and span.value == 7)
    x, y = shown.place(i, "i2c0/0x68")
    hit = "return timeline.drawing.at(arguments[0], arguments[1])"
    assert [shown.run(hit, x + by, y) for by in (-2.5, 0, 2.5, 6)] == [i, i, i, -1]


def test_hover_over_a_point_says_what_it_is(load):
    shown = load("contention")
    (missed, *_) = [point for point in shown.timeline.points if point.kind == "timeout"]
    x = shown.run("return timeline.drawing.x(arguments[0])", missed.at)
    y = shown.run("return timeline.lanes.find((lane) => lane.name === 'sensor').y")
    shown.pointer(x, y + 2).perform()
    shown.settle()
    assert shown.text("tip") == "timeout\ntask: sensor\nkey: i2c0/0x48\nat: 165.5 ms"


def test_search_hides_other_lanes_and_goes_from_hit_to_hit(load):
    shown = load("contention")
    shown.press("/", "SENSOR")
    count = sum(span.task == 2 for span in shown.timeline.spans)
    assert shown.text("hits") == f"{count} of {len(shown.timeline.spans)} spans"
    assert shown.labels() == ["i2c0 wire", "i2c0/0x48", "sensor"]
    other = shown.number(lambda span: span.task == 1 and span.kind == "transfer")
    x, y = shown.place(other, "i2c0 wire")
    assert shown.pixel(int(x), int(y)) != shown.colour("transfer")  # dimmed
    shown.press(Keys.ENTER)
    first = shown.run("return timeline.drawing.selected")
    shown.press(Keys.ENTER)
    second = shown.run("return timeline.drawing.selected")
    assert [shown.timeline.spans[i].task for i in (first, second)] == [2, 2] and second > first
    assert "of sensor" in shown.text("details")
    start, end = shown.view
    assert start <= shown.timeline.spans[second].start <= end
    shown.press(Keys.ESCAPE)
    assert len(shown.labels()) == 7 and shown.text("hits") == ""
    shown.driver.find_elements(By.CSS_SELECTOR, "#labels button")[3].click()
    assert shown.labels()[1] == "i2c0/0x68"
    shown.press("zebra")  # the search has no focus: nothing is typed, n and p aside
    assert shown.run("return document.getElementById('search').value") == "i2c0/0x68"
    shown.run("search('zebra')")
    assert shown.labels() == [] and shown.text("hits").startswith("0 of")


def test_fifty_thousand_events(load):
    shown = load("busy")
    assert len(shown.timeline.dump.events) == 50_000
    rows = shown.run("return timeline.lanes.reduce((n, lane) => n + lane.rows.length, 0)")
    # What is drawn depends on the width, not on how many events there are.
    for width in (1000, 100):
        shown.run("timeline.drawing.resize(arguments[0], 5000); timeline.drawing.draw(0)", width)
        assert 20 * width < shown.run("return timeline.drawing.drawn.boxes") <= rows * (width + 2)
    shown.run("resize()")
    shown.settle()
    before = shown.run("return timeline.drawing.drawn.frames")
    for _ in range(20):
        shown.press("+")
    assert shown.run("return timeline.drawing.drawn.frames") - before <= 20
    start, end = shown.view
    assert end - start < shown.timeline.end / 1000
    inside = sum(span.start < end and span.end > start for span in shown.timeline.spans)
    assert 0 < shown.run("return timeline.drawing.drawn.boxes") <= 3 * inside + 30
    shown.run("document.getElementById('scroll').scrollTop = 1e6")
    shown.settle()
    assert shown.labels()[-1] == "worker 9" or "worker" in shown.labels()[-1]
    shown.run("search('worker 5')")
    assert shown.text("hits").startswith(str(sum(span.task == 6 for span in shown.timeline.spans)))


def test_many_presses_are_one_frame(load):
    shown = load("contention")
    before = shown.run("return timeline.drawing.drawn.frames")
    shown.run("for (let i = 0; i < 50; i++) timeline.show(i * 1000, 500000 + i * 1000)")
    shown.settle()
    assert shown.run("return timeline.drawing.drawn.frames") == before + 1


def test_a_long_queue_fits(load):
    shown = load("growing")
    assert shown.labels()[0] == "i2c0/0x48"
    assert shown.run("return timeline.lanes[0].height") < 150


def test_names_are_text(load, driver):
    name = "<img src=x onerror=alert(1)>"
    shown = load("odd", trace_scenes.contention(until=50_000).dump().replace("display", name))
    assert name in shown.labels()
    assert not driver.find_elements(By.CSS_SELECTOR, "img")


def test_an_empty_trace(load):
    shown = load("empty", "~buslock-trace 1 unit=us wrap=1073741824 events=0 lost=0 at=0\n~end 0\n")
    shown.press("+", "n", "p", Keys.HOME)
    assert shown.labels() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(load, driver, scheme):
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    try:
        shown = load("contention")
        paper = shown.pixel(3, shown.canvas.size["height"] - 6)
        assert paper == shown.colour("paper") and (sum(paper[:3]) > 600) is (scheme == "light")
        shown.pointer(*shown.place(shown.number(lambda span: span.bad))).click().perform()
        shown.settle()
        if folder := os.environ.get("BUSLOCK_SCREENSHOTS"):
            assert driver.save_screenshot(str(Path(folder) / f"timeline-{scheme}.png"))
            shown = load("busy")
            assert driver.save_screenshot(str(Path(folder) / f"timeline-{scheme}-busy.png"))
        other = "dark" if scheme == "light" else "light"
        driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": other}]}
        )
        shown.settle()
        assert shown.pixel(3, shown.canvas.size["height"] - 6) != paper  # it follows a change, too
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
