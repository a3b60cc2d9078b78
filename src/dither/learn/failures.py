"""The ways in which a run may fail while it reads private records: callers' code fails for
a record, or the machine fails for all of them.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import TypeVar

from dither.errors import MachineFailed

__all__ = [
    "FAILED",
    "attempted",
    "is_machine",
    "is_shortage",
    "read_or_none",
    "unless_machine",
    "words_of",
]

T = TypeVar("T")

FAILED: tuple[type[BaseException], ...] = (Exception, SystemExit)
"""`sys.exit()` in a model, a loss or a client is a failure like any other: whether a run
ends must not depend on a record (rule R1). Only KeyboardInterrupt stops a run. For code
that reads private records, `attempted` also takes other errors that are no `Exception`,
such as those of extensions in Rust.
"""
SIGNS = (
    *("DefaultCPUAllocator", "alloc_cpu.cpp", "out of memory", "allocate memory"),
    *("CUDA error", "CUDA driver error", "device-side", "HIP error", "Triton Error"),
    *("CUBLAS_STATUS", "CUDNN_STATUS", "cuDNN error", "CUSOLVER_STATUS"),
    *("cuFFT error", "NCCL error", "ncclUnhandled", "could not create a primitive"),
    *("could not create a memory", "bad_alloc", "can't start new thread"),
)
"""Words of PyTorch and the libraries below it, where they report the machine."""
SHORTAGES = (  # of memory
    *("DefaultCPUAllocator", "alloc_cpu.cpp", "out of memory", "allocate memory"),
    *("bad_alloc", "STATUS_ALLOC_FAILED"),
)


def is_machine(error: BaseException) -> bool:
    """Whether an error reads like one of the machine: no memory on some device, or a
    failed library. The code of a model may raise such an error for one record, so only
    made-up rows that fail too prove it (rule R25).
    """
    try:
        return _is_machine(error)
    except FAILED:  # the error is of a class of somebody's own
        return False


def _is_machine(error: BaseException) -> bool:
    if isinstance(error, MemoryError | MachineFailed):
        return True
    if isinstance(error, OSError):
        return error.errno in (errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EIO)
    if type(error).__module__.partition(".")[0] == "triton":
        return True
    words = words_of(error)
    return isinstance(error, RuntimeError) and any(one in words for one in SIGNS)


def is_shortage(error: BaseException | None) -> bool:
    """Whether an error, or one that it came after, reads like a lack of memory."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        if is_machine(error) and any(one in words_of(error) for one in SHORTAGES):
            return True
        error = error.__context__
    return False


def words_of(error: BaseException) -> str:
    """The first line of an error, whatever its class does when it is asked."""
    if isinstance(error, MachineFailed):
        return "made-up rows fail"
    try:
        return str(error).strip().split("\n")[0][:200]
    except FAILED:
        return ""


def read_or_none(read: Callable[[], T | None]) -> T | None:
    """A record, or None if its own code fails: such a record is ignored. It is read again
    after an error that reads like the machine's, which may be over by then.
    """
    found, error = attempted(read)
    if error is not None and is_machine(error):
        found, error = attempted(read)
    return found


def unless_machine(call: Callable[[], T]) -> T | None:
    """The result of a call; None if the machine failed. Nothing of a failed attempt is
    held once this returns.
    """
    try:
        return call()
    except FAILED as error:
        if not is_machine(error):
            raise
    return None


def attempted(call: Callable[[], T]) -> tuple[T | None, BaseException | None]:
    """The result of a call, or what it raised. The error holds no traceback, and so
    nothing of what was computed.
    """
    try:
        return call(), None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return None, error.with_traceback(None)
