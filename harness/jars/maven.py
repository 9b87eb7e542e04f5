"""Resolves and downloads jars with jgo's resolver. Imported only where the cache lacks something.

jgo 3.2 knows how to read POMs. It doesn't do three things that a cache shared by many runs needs, so they
are done here: a download is checked and then moved into place in one step; a network error is an error (jgo
takes a POM that it can't load for one without dependencies, and jars would be missing); and a version such
as `[1.53.0]`, which RocketMQ 5's gRPC has, means that very version.
"""

import hashlib
import logging
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import requests
from jgo.constants import MAVEN_CENTRAL_URL
from jgo.maven import MavenContext, PythonResolver
from jgo.parse import Coordinate
from urllib3.util import Retry

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.harness.jars.bundles import Bundle

REPOSITORY_VARIABLE = "ROCKETCHAOS_MAVEN_REPOSITORY"
"""The environment variable that names a mirror to use instead of Maven Central."""

Progress = Callable[[str], None]

_TIMEOUT_S = 20
_PARALLEL_DOWNLOADS = 6
# Repositories limit how fast one may ask, and networks hiccup.
_RETRIES = Retry(total=3, backoff_factor=0.3, status_forcelist=(429, 502, 503, 504), raise_on_status=False)
_EXACT_VERSION = re.compile(r"\[([^,\[\]]+)\]")
_HINT = (
    f"Set {REPOSITORY_VARIABLE} to a Maven repository that this machine reaches, or ROCKETCHAOS_CACHE to a "
    "cache folder that was filled elsewhere."
)
_CERTIFICATE_HINT = (
    "Where a proxy signs with a certificate of its own, let REQUESTS_CA_BUNDLE name the file that has it. "
    + _HINT
)
_LOCKS: dict[Path, threading.Lock] = {}
"""One for each file that this process has fetched: no other thread fetches it meanwhile."""
_LOCKS_LOCK = threading.Lock()


class _NotThereError(RuntimeError):
    """The repository has no such file."""


class Repository:
    """A remote Maven repository, and the folder that keeps what was fetched from it."""

    def __init__(self, folder: Path, progress: Progress, stop: threading.Event | None = None) -> None:
        """Uses the mirror that the environment names, otherwise Maven Central.

        Args:
            folder: it keeps what is fetched.
            progress: called with a few words before anything that takes time.
            stop: once set, nothing more is asked of the repository.

        Raises:
            UsageProblem: the mirror is no http or https URL.
        """
        configured = os.environ.get(REPOSITORY_VARIABLE)
        self._url = (configured or MAVEN_CENTRAL_URL).rstrip("/")
        parts = urlsplit(self._url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageProblem(
                f"{REPOSITORY_VARIABLE} is no http or https URL: {configured}",
                "Give a repository's base URL.",
            )
        # Without the user name and password that the URL of a mirror may carry.
        self.name = f"the Maven repository at {parts.hostname}" if configured else "Maven Central"
        self._progress = progress
        self._missing_poms: list[str] = []
        self.unreachable: EnvironmentNotReady | None = None
        """Why it could not be reached, once it was tried in vain."""
        self._stop = stop or threading.Event()
        # Connections are kept open: most of the time goes into hundreds of small files, one after the other.
        self._session = requests.Session()
        self._session.mount(f"{parts.scheme}://", requests.adapters.HTTPAdapter(max_retries=_RETRIES))
        # Our own message tells the user what went wrong; jgo would print it a second time.
        logging.getLogger("jgo").setLevel(logging.CRITICAL)
        self._context = _Context(
            resolver=_Resolver(self),
            repo_cache=folder,
            remote_repos={"repository": self._url},
            timeout=_TIMEOUT_S,
        )

    def jars(self, bundle: Bundle) -> list[Path]:
        """The jars of these artifacts and of all they need at run time, fetched where missing.

        Raises:
            EnvironmentNotReady: the repository can't be reached or lacks something, or the disk is full.
        """
        try:
            return self._fetch_all(self._artifacts(bundle))
        except (RuntimeError, ValueError, ElementTree.ParseError) as error:
            raise EnvironmentNotReady(
                f"{bundle.title} can't be put together from {self.name}: {error}", _HINT
            ) from error

    def resolved(self, bundle: Bundle) -> list[str]:
        """The same jars as coordinates, `group:artifact:version` and a classifier. It fetches POMs alone."""
        return [
            ":".join(filter(None, (item.groupId, item.artifactId, item.version, item.classifier)))
            for item in self._artifacts(bundle)
        ]

    def _artifacts(self, bundle: Bundle) -> list[Any]:
        """In the order of the class path."""
        self._missing_poms.clear()
        roots = [self._context.create_dependency(each) for each in bundle.coordinates]
        if bundle.complete:
            return [each.artifact for each in roots]
        inputs, transitive = self._context.resolver.resolve(roots)
        if self._missing_poms:
            raise _NotThereError(f"there is no {self._missing_poms[0]}")
        wanted = {
            each.artifact
            for each in [*inputs, *transitive]
            if each.scope in ("compile", "runtime", None)
            and each.artifact.packaging == "jar"
            and each.artifact.groupId not in bundle.provided
        }
        return sorted(wanted, key=str)

    def _fetch_all(self, artifacts: Sequence[Any]) -> list[Path]:
        missing = sum(not artifact.cached_path.exists() for artifact in artifacts)
        if missing:
            self._progress(f"downloading {missing} jars from {self.name}")
        with ThreadPoolExecutor(_PARALLEL_DOWNLOADS) as pool:
            try:
                return list(pool.map(lambda artifact: Path(artifact.resolve()), artifacts))
            except BaseException:
                # The first failure tells enough; what still waits need not be tried.
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def has(self, coordinates: Iterable[str]) -> dict[str, bool | EnvironmentNotReady]:
        """Whether each artifact exists, by its POM, or the reason why that is unknown.

        Args:
            coordinates: `group:artifact:version`, asked in parallel.
        """
        asked = tuple(dict.fromkeys(coordinates))
        with ThreadPoolExecutor(_PARALLEL_DOWNLOADS) as pool:
            return dict(zip(asked, pool.map(self._has, asked), strict=True))

    def _has(self, coordinate: str) -> bool | EnvironmentNotReady:
        if self.unreachable is not None:
            # One wait for a repository that doesn't answer is enough.
            return self.unreachable
        group, artifact, version = coordinate.split(":")
        pom = self._context.project(group, artifact).at_version(version).artifact(packaging="pom")
        try:
            pom.resolve()
        except _NotThereError:
            return False
        except EnvironmentNotReady as error:
            return error
        return True

    def versions(self, group: str, artifacts: Iterable[str]) -> dict[str, list[str]]:
        """The versions of each artifact as its `maven-metadata.xml` lists them; some that are there may lack.

        Without those artifacts of which the repository has no such list, or none that can be read.
        """
        asked = tuple(artifacts)
        with ThreadPoolExecutor(_PARALLEL_DOWNLOADS) as pool:
            lists = pool.map(lambda artifact: self._listed(group, artifact), asked)
            return {artifact: found for artifact, found in zip(asked, lists, strict=True) if found}

    def _listed(self, group: str, artifact: str) -> list[str]:
        if self.unreachable is not None:
            return []
        try:
            metadata = self.get(f"{group.replace('.', '/')}/{artifact}/maven-metadata.xml")
            return [each.text or "" for each in ElementTree.fromstring(metadata).iter("version")]
        except (_NotThereError, EnvironmentNotReady, ElementTree.ParseError):
            return []

    def fetch(self, path: str, target: Path) -> None:
        """Download one file, check it, and move it to `target` in one step.

        Raises:
            _NotThereError: the repository has no such file.
            EnvironmentNotReady: it can't be reached, or sent something else, or the disk is full.
        """
        content = self.get(path)
        try:
            expected = self.get(f"{path}.sha1").split()[:1]
        except _NotThereError:
            # Some mirrors keep no checksums. The content is as long as it was announced: `get` made sure.
            expected = []
        if expected and expected[0].decode(errors="replace").lower() != hashlib.sha1(content).hexdigest():
            raise EnvironmentNotReady(f"{self.name} sent a damaged file: {path}", "Try again. " + _HINT)
        try:
            _write(target, content)
        except OSError as error:
            raise EnvironmentNotReady(
                f"a jar can't be written: {error.strerror}: {target}",
                "Free some disk space, or set ROCKETCHAOS_CACHE to a folder elsewhere.",
            ) from error

    def get(self, path: str) -> bytes:
        """The content of one file; raises as `fetch`."""
        if self._stop.is_set():
            raise EnvironmentNotReady("the download was interrupted")
        try:
            response = self._session.get(f"{self._url}/{path}", timeout=_TIMEOUT_S)
        except requests.RequestException as error:
            hint = _CERTIFICATE_HINT if isinstance(error, requests.exceptions.SSLError) else _HINT
            self.unreachable = EnvironmentNotReady(
                f"{self.name} could not be reached ({_reason(error)})", hint
            )
            raise self.unreachable from error
        if response.status_code == 404:
            if path.endswith(".pom"):
                self._missing_poms.append(path)
            raise _NotThereError(f"there is no {path}")
        if response.status_code != 200:
            raise EnvironmentNotReady(f"{self.name} answered HTTP {response.status_code} for {path}", _HINT)
        return bytes(response.content)


class _Context(MavenContext):
    """Takes `[1.53.0]` for what it means: that very version."""

    def create_dependency(self, coordinate: Any, exclusions: Any = None) -> Any:
        parsed = Coordinate.parse(coordinate)
        if parsed.version and (exact := _EXACT_VERSION.fullmatch(parsed.version)):
            parsed.version = exact[1]
        return super().create_dependency(parsed, exclusions)


class _Resolver(PythonResolver):
    """Reads POMs as jgo does, and downloads through `Repository.fetch`."""

    def __init__(self, repository: Repository) -> None:
        super().__init__()
        self._repository = repository

    def download(self, artifact: Any) -> Path:
        target = Path(artifact.cached_path)
        with _LOCKS_LOCK:
            lock = _LOCKS.setdefault(target, threading.Lock())
        with lock:
            # Versions that are fetched in parallel have most of their jars in common.
            if not target.exists():
                path = f"{artifact.component.path_prefix.as_posix()}/{artifact.filename}"
                self._repository.fetch(path, target)
        return target


def _write(target: Path, content: bytes) -> None:
    """Write a file so that it is there whole, or not at all, whatever happens at any moment."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".part-", delete=False) as file:
        part = Path(file.name)
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            part.chmod(0o644)
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _reason(error: BaseException) -> str:
    """The innermost cause in a few words: HTTP libraries wrap it several times, with addresses of objects."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return getattr(error, "strerror", None) or type(error).__name__
