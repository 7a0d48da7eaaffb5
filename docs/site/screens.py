"""Pictures of pages for the documents: on a desk, and on a phone from a heading on.

    python docs/site/screens.py c2.html -o docs/images/compare.png
        --phone dark "Where each network is right" --phone light "Which algorithm"
    python docs/site/screens.py turnstile.html -o docs/images/page.png
        --height 1500 --phone dark ""

It needs chromium and chromedriver.
"""

import argparse
import shutil
from io import BytesIO
from pathlib import Path

from PIL import Image
from selenium import webdriver

DESK, PHONE, BORDER = 960, 360, 20
GROUND = "#c0c8d2"
SCROLL = """
const all = [...document.querySelectorAll("h1, h2, h3")];
const wanted = all.find(each => each.textContent.trim().startsWith(arguments[0]));
document.body.style.paddingBottom = "100vh";
window.scrollTo(0, wanted.getBoundingClientRect().top - 8);
"""


def shot(
    page: Path, width: int, height: int, colours: str, heading: str = ""
) -> Image.Image:
    """What a browser shows of a page.

    Args:
        page: Its file.
        width: Of the window.
        height: Of the window.
        colours: ``light`` or ``dark``.
        heading: What stands at the top, by how it begins; nothing is the top of the page.
    """
    options = webdriver.ChromeOptions()
    for each in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(each)
    driver = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options, driver) as browser:
        size = {
            "width": width,
            "height": height,
            "deviceScaleFactor": 1,
            "mobile": False,
        }
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": colours}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        browser.get(page.resolve(strict=True).as_uri())
        if heading:
            browser.execute_script(SCROLL, heading)
        return Image.open(BytesIO(browser.get_screenshot_as_png()))


def beside(images: list[Image.Image]) -> Image.Image:
    """Images of one height on a ground, side by side."""
    width = sum(each.width for each in images) + BORDER * (len(images) + 1)
    whole = Image.new("RGB", (width, images[0].height + 2 * BORDER), GROUND)
    at = BORDER
    for each in images:
        whole.paste(each, (at, BORDER))
        at += each.width + BORDER
    return whole.quantize(256, kmeans=2)


def main() -> None:
    """Draw what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--height", type=int, default=2080)
    parser.add_argument(
        "--phone", nargs=2, action="append", metavar=("COLOURS", "HEADING")
    )
    options = parser.parse_args()
    page, height = options.page, options.height
    phones = [shot(page, PHONE, height, *each) for each in options.phone or []]
    desk = shot(page, DESK, height, "light")
    beside([desk, *phones]).save(options.output, optimize=True)


if __name__ == "__main__":
    main()
