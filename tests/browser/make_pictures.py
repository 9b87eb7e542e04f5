"""`make pictures`: the pictures of the README, from the runs and reports of `make demo-report`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from tests.browser.chromium import LIMIT_MS, chromium

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "build" / "demo-report"
PICTURES = ROOT / "docs" / "pictures"
CELL = {"client": "java", "rocketmq": "4.9.4"}
WIDTH, HEIGHT = 1100, 780
SHORTEN = """(folder) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(folder, "");
}"""
"""What a page says of this machine's folders is no part of the picture."""
TO_THE_MAP = "document.getElementById('figure-map').scrollIntoView({behavior: 'instant'})"
TOP_OF_THE_MAP = "document.getElementById('figure-map').getBoundingClientRect().top"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def pages() -> dict[str, Path]:
    """The page of the newest run with the README's client and version, and the page of flakiness."""
    runs = sorted((DEMO / "runs" / "same-group-different-tags").glob("*-*/run.json"), reverse=True)
    cells = {run.parent: json.loads(run.read_text("utf-8"))["cell"] for run in runs}
    newest = next((run for run, cell in cells.items() if cell == CELL), DEMO)
    found = {"run": newest / "report.html", "flakiness": DEMO / "reports" / "flakiness.html"}
    if missing := [str(page) for page in found.values() if not page.is_file()]:
        raise SystemExit(f"Run `make demo-report` first: there is no {', no '.join(missing)}.")
    return found


def main() -> None:
    """Take all of them."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for name, page in pages().items():
            for scheme in SCHEMES:
                view = browser.new_page(
                    viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme, reduced_motion="reduce"
                )
                view.goto(page.as_uri(), timeout=LIMIT_MS)
                if name == "flakiness":
                    view.locator("html[data-drawn]").wait_for(state="attached", timeout=LIMIT_MS)
                    view.evaluate(TO_THE_MAP)
                    view.wait_for_function(f"Math.abs({TOP_OF_THE_MAP}) < {HEIGHT / 2}", timeout=LIMIT_MS)
                view.evaluate(SHORTEN, f"{DEMO}/")
                view.screenshot(path=PICTURES / f"{name}-{scheme}.png")
                view.close()


if __name__ == "__main__":
    main()
