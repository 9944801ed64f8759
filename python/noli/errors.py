"""Exceptions: one class for each status of the library. Their text is the message of the library, which says where:
a file and a line, a path in a scene, or bodies, vertices and coordinates."""
from __future__ import annotations

__all__ = ["Error", "StepError", "NotConverged", "NotPositiveDefinite", "LineSearchFailed", "StepBlocked",
           "InvertedElement", "NotFinite", "Cancelled", "ArgumentError", "OutOfMemory", "FileError", "FormatError",
           "BackendError", "IntersectionError", "TooLargeError", "InternalError", "AuditError"]


class Error(Exception):
    """What every exception of the library is."""

    #: the value of the status in C
    status = 0
    #: of a batch: the number of the copy that failed
    index: int | None = None


class StepError(Error):
    """Recoverable: nothing has changed, and the call may be repeated with other parameters, for example with a
    shorter time step. `report` says how far a step came (None where it was no step)."""

    report = None


class NotConverged(StepError):
    """The iteration did not converge."""
    status = 1


class NotPositiveDefinite(StepError):
    """A matrix is not positive definite."""
    status = 2


class LineSearchFailed(StepError):
    """The line search found no decrease."""
    status = 3


class StepBlocked(StepError):
    """No positive step keeps the surfaces apart."""
    status = 4


class InvertedElement(StepError):
    """An element is inverted."""
    status = 5


class NotFinite(StepError):
    """A value is not finite."""
    status = 6


class Cancelled(StepError):
    """A progress function has ended the step."""
    status = 7


class ArgumentError(Error, ValueError):
    """An argument is invalid."""
    status = -1


class OutOfMemory(Error, MemoryError):
    """Out of memory."""
    status = -2


class FileError(Error, OSError):
    """A file could not be read or written."""
    status = -3


class FormatError(Error, ValueError):
    """The content of a file or scene is not valid."""
    status = -4


class BackendError(Error):
    """An external library failed."""
    status = -5


class IntersectionError(Error, ValueError):
    """Surfaces intersect or touch."""
    status = -6


class TooLargeError(Error, OverflowError):
    """The problem exceeds an index range."""
    status = -7


class InternalError(Error):
    """An error in the library."""
    status = -8


class AuditError(Error):
    """The audit found a defect."""
    status = -9


BY_STATUS = {kind.status: kind for kind in list(globals().values())
             if isinstance(kind, type) and issubclass(kind, Error) and kind.status != 0}
