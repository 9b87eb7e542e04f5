"""rocketmq-client-python in this process, over the given librocketmq.

Rests on rocketmq.ffi of rocketmq-client-python 2.0.0, which looks for the library with `ctypes.util.find_library`
and binds every function when it is imported, also four that the C++ client 1.0.1 lacks: CreateOrderlyProducer,
CreateTransactionProducer, SendMessageOrderlyByShardingKey and SendMessageTransaction.
"""

import ctypes
import ctypes.util
import importlib
import ipaddress
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

_STORE_HOST = "_ZNK8rocketmq12MQMessageExt12getStoreHostEv"
"""`sockaddr MQMessageExt::getStoreHost() const`: the C API has no such function. (getOffsetMsgId would not do: it
has the bytes of the address the wrong way round.)"""


class _SockaddrIn(ctypes.Structure):
    _fields_ = (
        ("family", ctypes.c_uint16),
        ("port", ctypes.c_uint8 * 2),
        ("address", ctypes.c_uint8 * 4),
        ("zero", ctypes.c_uint8 * 8),
    )


class Missing:
    """A function that the library lacks: it can be declared, and raises when it is called."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.argtypes: Any = None
        self.restype: Any = None

    def __call__(self, *_arguments: Any) -> NoReturn:
        """Raise.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(f"this librocketmq has no function {self._name}")


class Library(ctypes.CDLL):
    """A library whose missing functions only show when they are called."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("__"):
                raise
            missing = Missing(name)
            setattr(self, name, missing)
            return missing


class NativeClient:
    """`rocketmq.client`, and what it doesn't offer of the C++ client.

    Raises:
        OSError: the library can't be loaded.
        ImportError: the package isn't there.
        AttributeError: the library is another one, and lacks what we need of it.
    """

    def __init__(self, library: Path) -> None:
        self.module = _import_over(library)
        self.ffi = importlib.import_module("rocketmq.ffi")
        self.exceptions = importlib.import_module("rocketmq.exceptions")
        self._store_host = getattr(ctypes.CDLL(str(library)), _STORE_HOST)
        self._store_host.argtypes = [ctypes.c_void_p]
        self._store_host.restype = _SockaddrIn

    def store_host(self, message: Any) -> str:
        """The `host:port` of the broker that stores a ReceivedMessage."""
        found = self._store_host(message._handle)
        return f"{ipaddress.IPv4Address(bytes(found.address))}:{int.from_bytes(bytes(found.port), 'big')}"

    @property
    def last_error(self) -> str:
        """The library's text about its last failure."""
        return (self.ffi.dll.GetLatestErrorMessage() or b"").decode(errors="replace").strip()


def _import_over(library: Path) -> ModuleType:
    found, loaded = ctypes.util.find_library, ctypes.cdll.LoadLibrary
    ctypes.util.find_library = lambda name: str(library)  # noqa: ARG005 - its name
    ctypes.cdll.LoadLibrary = Library  # type: ignore[method-assign]
    try:
        return importlib.import_module("rocketmq.client")
    finally:
        ctypes.util.find_library = found
        ctypes.cdll.LoadLibrary = loaded  # type: ignore[method-assign]
