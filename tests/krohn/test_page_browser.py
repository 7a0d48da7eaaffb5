"""Pages as a real browser shows them: on a phone, on a desk, in the dark and on paper."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sample_comparison import sample

import krohn
from krohn import cli
from krohn.algebra.formats import json_format
from krohn.instruments.compare.comparison import Comparison
from krohn.intervention import parse_program
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile
from krohn.program.interpreter import interpret

webdriver = pytest.importorskip(
    "selenium.webdriver", reason="selenium, which drives the browser, is not installed"
)
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs chromium and chromedriver (apt-get install chromium chromium-driver)",
)
HOSTILE = (
    "<script>document.title = 'owned'</script>",
    '"><img src=http://localhost:9/ onerror="document.title = 1">',
    "</style></title><h1>name</h1>",
    "W" * 400,
)
PHONE, DESK = (360, 740), (1280, 900)


class Browser:
    """A headless browser that notes what pages say and ask for."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, size: tuple[int, int], **media: str) -> list[str]:
        """Show a page, and return what was requested meanwhile."""
        width, height = size
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {
                "width": width,
                "height": height,
                "deviceScaleFactor": 1,
                "mobile": width < 500,
            },
        )
        features = [{"name": n.replace("_", "-"), "value": v} for n, v in media.items()]
        wanted = {"media": media.get("media", ""), "features": features}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)
        self.driver.get_log("performance")
        self.driver.get(path.as_uri())
        messages = [
            json.loads(entry["message"])["message"]
            for entry in self.driver.get_log("performance")
        ]
        return [
            m["params"]["request"]["url"]
            for m in messages
            if m["method"] == "Network.requestWillBeSent"
        ]

    def ask(self, script: str) -> Any:
        """The value of an expression in the page."""
        return self.driver.execute_script(f"return {script}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    service = webdriver.ChromeService(executable_path=DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    yield Browser(driver)
    driver.quit()


def zeroed(file: ModelFile) -> ModelFile:
    weight = np.zeros_like(file.tensors["unembed.weight"])
    tensors = {**file.tensors, "unembed.weight": weight}
    return ModelFile(file.header, tensors, file.precision)


def stated_by_others() -> dict[str, Any]:
    size = len(HOSTILE)
    table = (np.arange(size)[:, None] + np.arange(size)) % size
    return {
        **json_format.to_object(krohn.zoo("C2")),
        "name": HOSTILE[2],
        "letters": list(HOSTILE),
        "states": list(HOSTILE),
        "start": HOSTILE[0],
        "transitions": table.tolist(),
    }


def hostile() -> ModelFile:
    machine = json_format.from_object(stated_by_others())
    file = krohn.compile(machine, 3, "scan").file
    return zeroed(ModelFile(file.header, file.tensors, file.precision))


def without_program() -> ModelFile:
    long = krohn.compile("Grid4", 40, "scan").file
    plain = {k: v for k, v in long.header.items() if k != "program"}
    return ModelFile(plain, long.tensors, long.precision)


FILES: dict[str, Callable[[], ModelFile]] = {
    "verified": lambda: krohn.compile("Grid4", 8, "scan").file,
    "refuted": lambda: zeroed(krohn.compile("Grid4", 8, "scan").file),
    "undecided": without_program,
    "generator": lambda: krohn.compile_generator("Dyck2,2", 8).file,
    "rnn": lambda: krohn.compile("C3", arch="rnn").file,
    "hostile": hostile,
}
"""A network for each kind of page of a verdict."""
COMPARISONS: dict[str, Callable[[], Comparison]] = {
    "comparison": sample,
    "hostile comparison": lambda: sample(json_format.from_object(stated_by_others())),
}
Pages = Callable[[str], Path]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """A page for each kind of verdict and network, made when it is first asked for."""
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def page(name: str) -> Path:
        shown, path = folder / f"{name}.html", folder / f"{name}.safetensors"
        if name in COMPARISONS:
            shown.write_text(COMPARISONS[name]().html(), "utf-8")
        else:
            file = FILES[name]()
            modelfile.write(path, file.header, file.tensors)
            cli.run(["verify", str(path), "--html", str(shown), "--html-effort", "0"])
        return shown

    return page


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", [*FILES, *COMPARISONS])
def test_pages_are_quiet_and_complete(
    browser: Browser, pages: Pages, name: str
) -> None:
    for size in (PHONE, DESK):
        asked = browser.open(pages(name), size)
        own = [url for url in asked if not url.startswith("data:")]
        assert own == [pages(name).as_uri()]
        assert browser.driver.get_log("browser") == []
        assert browser.ask("document.documentElement.scrollWidth") <= size[0]
        assert browser.ask("document.scripts.length") == 0
        images = browser.ask(
            "[...document.images].map(i => i.complete && i.naturalWidth > 0)"
        )
        assert images
        assert all(images)
    if name in FILES:
        verdict = browser.ask("document.querySelector('.verdict').innerText")
        words = {"generator": "verified", "rnn": "verified", "hostile": "refuted"}
        assert words.get(name, name) in verdict


def test_bars_are_drawn_inside_the_chart(browser: Browser, pages: Pages) -> None:
    for size in (PHONE, DESK):
        browser.open(pages("verified"), size)
        chart, *bars = browser.ask(
            "[document.querySelector('.margins svg'), ...document.querySelectorAll("
            "'.margins rect')].map(e => e.getBoundingClientRect().toJSON())"
        )
        assert len(bars) > 1
        assert all(chart["left"] <= b["left"] for b in bars)
        assert all(b["right"] <= chart["right"] + 1 for b in bars)
        assert all(b["bottom"] <= chart["bottom"] for b in bars)
        assert max(b["width"] for b in bars) > 20


@pytest.mark.slow
@pytest.mark.parametrize("size", [PHONE, DESK])
def test_lines_and_their_labels_are_drawn_inside_the_page(
    browser: Browser, pages: Pages, size: tuple[int, int]
) -> None:
    browser.open(pages("comparison"), size)
    boxes = browser.ask(
        "[...document.querySelectorAll('.plot svg')].map(f => ({frame: "
        "f.getBoundingClientRect().toJSON(), parts: [...f.querySelectorAll("
        "'text, g > path')].map(e => e.getBoundingClientRect().toJSON())}))"
    )
    assert len(boxes) == 6  # position, length, bias, count; loss and accuracy
    for box in boxes:
        frame = box["frame"]
        for part in box["parts"]:
            assert frame["left"] <= part["left"]
            assert part["right"] <= frame["right"] + 1
            assert frame["top"] <= part["top"] + 1
            assert part["bottom"] <= frame["bottom"] + 1
    widths = [p["width"] for b in boxes for p in b["parts"]]
    assert max(widths) > size[0] / 5


@pytest.mark.slow
def test_labels_of_lines_do_not_cover_each_other(
    browser: Browser, pages: Pages
) -> None:
    browser.open(pages("comparison"), PHONE)
    tops = browser.ask(
        "[...document.querySelectorAll('.plot')].map(p => [...p.querySelectorAll("
        "'.label')].map(e => e.getBoundingClientRect().top))"
    )
    for labels in map(sorted, tops):
        assert all(b - a >= 12 for a, b in pairwise(labels))


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["hostile", "hostile comparison"])
def test_names_are_shown_as_texts(browser: Browser, pages: Pages, name: str) -> None:
    browser.open(pages(name), PHONE)
    assert browser.ask("document.querySelector('h1').innerText") == HOSTILE[2]
    assert browser.ask("document.querySelectorAll('h1').length") == 1
    text = browser.ask("document.body.innerText")
    assert all(name in text for name in HOSTILE[:2])
    assert "</style></title><h1>name</h1>" in browser.ask("document.title")


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["verified", "comparison"])
def test_it_is_dark_in_the_dark_and_light_on_paper(
    browser: Browser, pages: Pages, name: str
) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    page = pages(name)
    browser.open(page, DESK)
    assert browser.ask(paper) == "rgb(255, 255, 255)"
    browser.open(page, DESK, prefers_color_scheme="dark")
    assert browser.ask(paper) == "rgb(20, 23, 27)"
    browser.open(page, DESK, prefers_color_scheme="dark", media="print")
    assert browser.ask(paper) == "rgb(255, 255, 255)"
    assert browser.ask(
        "getComputedStyle(document.querySelector('tr')).breakInside"
    ) == ("avoid")


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["hostile", "hostile comparison"])
def test_it_prints_on_pages(browser: Browser, pages: Pages, name: str) -> None:
    browser.open(pages(name), DESK)
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
    assert printed.startswith("JVBERi0")  # %PDF-, in base 64


# The page that runs a network.

WEIGHT = (
    "[...document.querySelectorAll('.heads canvas')].map(c => "
    "[...c.getContext('2d').getImageData(0, 0, 1, 1).data])"
)
"""The colour of the weight 1, which BOS gives to itself, in each head."""

RUN = (
    ("C2", 12),
    ("examples/turnstile.dot", 24),
    ("S4", 9),
    ("Dyck2,3", 10),
    ("FlipFlop", 8),
    ("Grid4", 8),
    ("regex:(ab|ba)*", 7),
)
"""Sources and lengths: memories, counters, scans, stacks, corridors and patterns."""


@pytest.fixture(scope="module", params=RUN, ids=[source for source, _ in RUN])
def network(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[krohn.Model, Path]:
    source, length = request.param
    folder = tmp_path_factory.mktemp("network")
    root = Path(__file__).parents[2]
    path = root / source if source.endswith(".dot") else source
    krohn.compile(path, length).save(file := folder / "f.safetensors")
    krohn.draw(file, page := folder / "f.html")
    return krohn.load(file), page


@pytest.mark.sample(1)
def test_a_network_runs_in_the_browser_as_in_torch(
    browser: Browser, network: tuple[krohn.Model, Path]
) -> None:
    net, page = network
    asked = browser.open(page, DESK)
    assert [url for url in asked if not url.startswith("data:")] == [page.as_uri()]
    rng, program = np.random.default_rng(0), parse_program(net.file)
    for _ in range(20):
        word = rng.integers(len(net.letters), size=rng.integers(1, net.length + 1))
        run = browser.ask(
            f"(({{ streams, patterns, logits }}) => ({{ logits, patterns, "
            f"streams: streams.map((x) => Array.from(x)) }}))(runNetwork({word.tolist()}))"
        )
        logits, seen = net.run_with_cache(torch.tensor(word[None]))
        shown = np.array(run["logits"])
        np.testing.assert_allclose(shown, logits[0].numpy(), rtol=1e-5, atol=1e-5)
        for i, stream in enumerate(run["streams"]):
            there = seen[f"stream.{i}"][0].numpy()
            got = np.reshape(stream, there.shape)
            np.testing.assert_allclose(got, there, rtol=1e-5, atol=1e-5)
        said = browser.ask(f"runProgram({word.tolist()})")
        values = interpret(program, word[None])
        assert said["values"] == {n: x[0].tolist() for n, x in values.items()}
        names = [net.classes[q] for q in said["answers"]]
        assert names == list(net.run([net.letters[a] for a in word], states=True))
    assert browser.driver.get_log("browser") == []


@pytest.mark.sample(1)
def test_a_change_is_predicted_in_the_browser_as_in_python(
    browser: Browser, network: tuple[krohn.Model, Path]
) -> None:
    net, page = network
    browser.open(page, DESK)
    rng, program = np.random.default_rng(1), parse_program(net.file)
    variables = [(n, c) for n, c in program.channels.items() if c.stored]
    effects = 0
    for _ in range(40):
        word = rng.integers(len(net.letters), size=net.length)
        name, channel = variables[rng.integers(len(variables))]
        at, value = int(rng.integers(1, len(word) + 1)), int(rng.choice(channel.later))
        names = [net.letters[a] for a in word]
        outcome = net.patch(names, name, at, value)
        change = json.dumps({"name": name, "position": at, "value": value})
        predicted = browser.ask(f"runProgram({word.tolist()}, {change}).answers")
        assert [None if q < 0 else net.classes[q] for q in predicted] == list(
            outcome.predicted
        )
        chosen = browser.ask(
            f"runNetwork({word.tolist()}, {change}).logits.map(choose)"
        )
        computed = [
            None if c["answer"] < 0 else net.classes[c["answer"]] for c in chosen
        ]
        for wanted, answer, by_torch in zip(
            outcome.predicted, computed, outcome.answers, strict=True
        ):
            assert wanted is None or wanted == answer == by_torch
        effects += outcome.answers != outcome.before
    assert effects


@pytest.mark.sample(1)
@pytest.mark.parametrize("size", [PHONE, DESK])
def test_a_word_is_typed_and_a_variable_changed_by_hand(
    browser: Browser, network: tuple[krohn.Model, Path], size: tuple[int, int]
) -> None:
    net, page = network
    browser.open(page, size)
    assert browser.ask("document.documentElement.scrollWidth") <= size[0]
    browser.driver.find_element("css selector", "#letters button").click()
    assert "up to" in browser.ask("$('problem').textContent") or browser.ask(
        "show.word.length"
    ) <= (net.length or 0)
    browser.ask("($('word').value = '?!', $('word').onchange())")
    assert "does not have the letter ?!" in browser.ask("$('problem').textContent")
    browser.ask("take([0, 0])")
    assert browser.ask("document.querySelectorAll('#answers td').length") == 6
    said = browser.ask(
        "[...document.querySelectorAll('td.says')].map(c => c.innerText)"
    )
    assert said
    assert all(said)
    browser.driver.find_element("css selector", "#variables td[tabindex]").click()
    button = browser.driver.find_element("css selector", "#patch button:last-child")
    assert re.fullmatch(r"value \d+( → .+)?", button.text)
    button.click()
    assert browser.ask("document.querySelectorAll('td.patched').length") == 1
    rows = (
        "[...document.querySelectorAll('#answers th[scope=row]')].map(c => c.innerText)"
    )
    assert "before the change" in browser.ask(rows)
    wait = pytest.importorskip("selenium.webdriver.support.wait").WebDriverWait
    box = browser.driver.find_element("css selector", "#word")
    box.clear()
    box.send_keys(browser.ask("net.written[0]") + " ")
    wait(browser.driver, 5).until(lambda _: browser.ask("show.word") == [0])
    assert box.get_attribute("value").endswith(" ")
    browser.driver.find_element("css selector", "#variables td[tabindex]").click()
    assert browser.ask("$('patch').children.length") > 0
    box.send_keys(" ?!")
    wait(browser.driver, 5).until(
        lambda _: "below is the last word" in browser.ask("$('problem').textContent")
    )
    assert browser.driver.get_log("browser") == []


@pytest.mark.sample(1)
def test_attention_is_seen_in_the_dark(
    browser: Browser, network: tuple[krohn.Model, Path]
) -> None:
    seen = {}
    for scheme in ("light", "dark"):
        browser.open(network[1], DESK, prefers_color_scheme=scheme)
        colours = {tuple(colour) for colour in browser.ask(WEIGHT)}
        assert len(colours) == 1
        seen[scheme] = sum(colours.pop()[:3])
    assert seen["dark"] > seen["light"]
