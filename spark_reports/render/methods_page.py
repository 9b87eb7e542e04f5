"""The page about the methods, for the folder of the reports and for the documentation.

Pictures are drawn once, because their simulations take seconds. After a change of a picture or a method:

    python -m rocketchaos.spark_reports.render.methods_page pictures > /tmp/pictures.json
    mv /tmp/pictures.json spark_reports/render/templates/method_pictures.json
    python -m rocketchaos.spark_reports.render.methods_page markdown > docs/statistics.md
"""

import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache

from markupsafe import Markup

from rocketchaos.spark_reports.methods import METHODS
from rocketchaos.spark_reports.render.page import environment, template

_INTRODUCTION = """\
# Statistics of the reports

Each table and figure of a report names its methods. This page says what each of them answers, how to read it,
and how sure it is. The folder of the reports has the same page, `methods.html`.

Tests simulate runs with a known truth, and runs in which nothing happens. They check for each method
that its intervals contain the truth as often as stated, and that it raises false alarms no more often than
stated (`tests/unit/spark_reports/test_rates.py`).

`python -m rocketchaos.spark_reports.render.methods_page markdown > docs/statistics.md` makes this page again.
"""


@cache
def kept_pictures() -> Mapping[str, tuple[str, str]]:
    """As `pictures` has drawn them: by the ids of their methods the SVG, and the words below it."""
    return {
        method: (svg, words) for method, (svg, words) in json.loads(template("method_pictures.json")).items()
    }


def html() -> str:
    """The page in the folder of the reports."""
    drawn = {method: (Markup(svg), words) for method, (svg, words) in kept_pictures().items()}
    text = environment().get_template("methods.html.jinja")
    return text.render(methods=METHODS.values(), pictures=drawn, css=Markup(template("report.css")))


def markdown() -> str:
    """The page of the documentation."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _INTRODUCTION
    for method in METHODS.values():
        yield f"## {method.name} {{#{method.id}}}\n"
        yield f"**{method.answers}**\n\n{method.reading}\n"
        if method.id in kept_pictures():
            svg, words = kept_pictures()[method.id]
            yield f"<figure>{svg}</figure>\n\n*{words}*\n"
        yield f"Source: {method.source}\n"


if __name__ == "__main__":
    # It needs SciPy, as reports do, and the pages of reports don't draw.
    from rocketchaos.spark_reports.method_pictures import pictures

    print(json.dumps(dict(pictures()), indent=1) if sys.argv[1:] == ["pictures"] else markdown())
