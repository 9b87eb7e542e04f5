"""Bring pages that live with the code into the documentation site, and one page for each claim.

MkDocs calls `on_files` and `on_page_markdown`, see its page on hooks.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
PAGES = {
    "README.md": "index.md",
    "scenarios/LANGUAGE.md": "reference/language.md",
    "scenarios/CATALOGUE.md": "reference/scenarios.md",
    "CLAIMS.md": "reference/claims.md",
    "harness/nightly/README.md": "reference/nightly.md",
    "spark_reports/README.md": "reference/spark.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
}
"""Files of the repository, and the pages of the site that they become."""
_LOG = logging.getLogger("mkdocs.hooks")
"""MkDocs' own: with `strict: true` a warning ends the build."""
EVIDENCE = "scenarios/evidence"
"""The events to which claims link."""
_SOURCE = {page: source for source, page in PAGES.items()}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
_CLAIM = re.compile(r"^### ([A-Z]\d\d)$", re.MULTILINE)
_REFERENCES = re.compile(r"\(#([a-z]\d\d)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files of `PAGES`, a page for each claim, and the evidence."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if source == "CLAIMS.md":
            text, claims = _claims(_with_evidence())
            for claim, content in claims.items():
                files.append(File.generated(config, f"reference/claims/{claim}.md", content=content))
        if page == "index.md":
            text = text.replace("docs/pictures/", "pictures/")
        files.append(File.generated(config, page, content=text))
    for path in sorted((ROOT / EVIDENCE).rglob("*.jsonl")):
        where = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, where, abs_src_path=str(path)))
    return files


def _with_evidence() -> str:
    """The table of claims with the runs and events behind each verdict, which is too long to be committed."""
    from rocketchaos.harness.claims.evidence import read_evidence
    from rocketchaos.harness.claims.verdicts import verdicts
    from rocketchaos.harness.cli.claims import claims_text

    return claims_text(verdicts(read_evidence(ROOT / EVIDENCE)), ROOT / "CLAIMS.md", ROOT / EVIDENCE)


def _claims(text: str) -> tuple[str, dict[str, str]]:
    """The page of all claims, in one line each, and the page of each."""
    head, *parts = _CLAIM.split(text)
    index, claims = [_linked(head, "claims/")], {}
    for claim, body in zip(parts[::2], parts[1::2], strict=True):
        said, _, after = body.strip().partition("\n\n## ")
        claims[claim.lower()] = f"# {claim}\n\n{_linked(said, '')}\n"
        index.append(f"- [{claim}](claims/{claim.lower()}.md): {said.splitlines()[0]}\n")
        if after:
            index.append(f"\n## {after}\n\n")
    return "".join(index), claims


def _linked(text: str, folder: str) -> str:
    return _REFERENCES.sub(rf"({folder}\1.md)", text)


def on_page_markdown(markdown: str, *, page: Page, files: Files, **_: object) -> str:
    """Lead links to files of the repository to their pages; links to other files become plain text."""
    at = page.file.src_uri
    if at.startswith("reference/claims/"):
        source = PurePosixPath("CLAIMS.md")
    else:
        source = PurePosixPath(_SOURCE.get(at, f"docs/{at}"))

    def link(found: re.Match[str]) -> str:
        mark, text, target, anchor = found.group(1), found.group(2), found.group(3), found.group(4) or ""
        if not target or "://" in target or target.startswith("mailto:"):
            return found.group(0)
        if files.get_file_from_path(posixpath.normpath(posixpath.join(posixpath.dirname(at), target))):
            return found.group(0)
        file = posixpath.normpath(str(source.parent / target))
        there = PAGES.get(file, file.removeprefix("docs/"))
        if file == "CLAIMS.md" and re.fullmatch(r"#[a-z]\d\d", anchor):
            there, anchor = f"reference/claims/{anchor[1:]}.md", ""
        if files.get_file_from_path(there) is None:
            if not (ROOT / file).exists():
                _LOG.warning("%s links to %s, which isn't there", source, file)
            return text
        if there.startswith(EVIDENCE):
            anchor = ""
        return f"{mark}[{text}]({posixpath.relpath(there, posixpath.dirname(at) or '.')}{anchor})"

    return _LINK.sub(link, markdown)
