"""A report as one HTML page that loads nothing. Whatever comes from the cluster is escaped."""

import re
from collections.abc import Iterator, Mapping

from jinja2 import Environment
from markupsafe import Markup, escape

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.diagnose.diagnosis import Report
from rocketchaos.harness.diagnose.exchange import fields_text
from rocketchaos.harness.diagnose.finding import distinct
from rocketchaos.harness.diagnose.output.document import document
from rocketchaos.harness.diagnose.output.text import plain
from rocketchaos.harness.diagnose.words import counted

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Diagnosis: {{ levels }}</title>
<style>
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
  article { border-left: .4rem solid #888; padding: .2rem 1rem; margin: 1.5rem 0; }
  .error { border-color: #b00020; } .warning { border-color: #b26a00; } .info { border-color: #1565c0; }
  code, td { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
  .lost { display: block; overflow-x: auto; } .lost td { white-space: nowrap; }
  td, th { text-align: left; vertical-align: top; padding: .1rem .8rem .1rem 0; }
</style>
<h1>Diagnosis</h1>
<p>{{ levels }}; {{ undetermined|length }} undetermined. {{ groups|length|counted("group") }} at
{{ name_servers|join("; ") }}, {{ looks|length|counted("look") }}, the last at {{ looks[-1] }}.</p>
{% if unreached %}<p><b>Nobody answered after that:</b> {{ unreached|marked }}.</p>{% endif %}
{% for one in findings %}
<article class="{{ one.level }}">
<h2>{{ one.level }} {{ one.code }}: {{ one.title }}</h2>
<p>{% if one.group %}Group <code>{{ one.group }}</code>{% else %}The cluster{% endif %}
{%- if one.topic %}, topic <code>{{ one.topic }}</code>{% endif %}. {{ one.sentence|marked }}.</p>
<p><b>Messages.</b> {{ one.effect|marked }}</p>
{% if one.messages %}<table class="lost"><tr><th>queue<th>offsets<th>count<th>tag<th>fate<th>passed</tr>
{% for lost in one.messages %}<tr><td>{{ lost.broker }} {{ lost.queue }}<td>{{ lost.first_offset }} to
{{ lost.last_offset }}<td>{{ lost.count }}<td>{{ lost.tag }}<td>{{ lost.fate }}<td>
{{- "yes" if lost.passed else "no" }}</tr>
{% endfor %}</table>{% endif %}
<p><b>Change, in this order.</b></p><ol>{% for change in one.change %}<li>{{ change|marked }}</li>{% endfor %}</ol>
<details><summary>Proof</summary><table><tr><th>says<th>request<th>at<th>when</tr>
{% for proof in one.evidence %}<tr><td>{{ proof.says|marked }}<td>{{ proof.request }} {{ proof.fields|fields }}<td>
{{- proof.address }}<td>{{ proof.at }}</tr>
{% endfor %}</table></details>
{% if one.also %}<p>Also of group{{ "s" if one.also|length > 1 }}
{% for group in one.also %}<code>{{ group }}</code>{{ ", " if not loop.last }}{% endfor %}.</p>{% endif %}
{% if one.claims %}<p>Claims that explain it: {{ one.claims|join(", ") }}.</p>{% endif %}
</article>
{% endfor %}
{% if undetermined %}<h2>Undetermined</h2><ul>
{% for one in undetermined %}<li>{{ one.code }}, {% if one.group %}group <code>{{ one.group }}</code>
{%- else %}the cluster{% endif %}: {{ one.title }}? {{ one.reason|marked }}</li>
{% endfor %}</ul>{% endif %}
<h2>Checked, without a finding</h2>
{% for group, known in ruled_out_by_group.items() %}
<details><summary>{% if group %}group <code>{{ group }}</code>{% else %}the cluster{% endif %}:
{{ known|length|counted("check") }} found nothing</summary><ul>
{% for one in known %}<li>{{ one|marked }}</li>
{% endfor %}</ul></details>
{% endfor %}
</html>
"""


def page(report: Report, code: ExitCode) -> str:
    """The whole page, without characters that steer a terminal: it is printed."""
    shown = document(report, code)
    also = {id(finding): groups for finding, groups in distinct(report.findings)}
    findings = [
        {**item, "also": also[id(finding)]}
        for finding, item in zip(report.findings, shown["findings"], strict=True)
        if id(finding) in also
    ]
    counts = {
        level: sum(item["level"] == level for item in shown["findings"])
        for level in ("error", "warning", "info")
    }
    levels = ", ".join(_levels(counts)) or "nothing found"
    ruled_out: dict[str, list[str]] = {}
    for item in report.ruled_out:
        ruled_out.setdefault(item.group, []).append(f"{item.check.code}: {item.check.known}")
    environment = Environment(autoescape=True, trim_blocks=True)
    environment.filters.update(counted=counted, fields=fields_text, marked=_marked)
    whole = environment.from_string(_PAGE).render(
        {**shown, "findings": findings}, levels=levels, ruled_out_by_group=ruled_out
    )
    return plain(whole)


def _levels(counts: Mapping[str, int]) -> Iterator[str]:
    for level, number in counts.items():
        if number:
            yield f"{number} info" if level == "info" else counted(number, level)


def _marked(text: str) -> Markup:
    """Escaped, with what stands between backticks as code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))
