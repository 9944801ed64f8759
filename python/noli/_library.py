"""The library itself: its functions by cffi, and what every wrapper needs: contexts, statuses, arrays and structs."""
from __future__ import annotations

import logging
import os
import threading
import weakref
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from cffi import FFI

from . import errors, results

log = logging.getLogger("noli")


# ---- functions ----------------------------------------------------------------------------------

def _make_ffi() -> FFI:
    """The declarations, compiled where the package was built, or read."""
    try:
        from ._api import ffi as made  # type: ignore[import-not-found]
        return made
    except ImportError:
        made = FFI()
        made.cdef((Path(__file__).parent / "declarations.h").read_text(encoding="utf-8"))
        return made


ffi = _make_ffi()
# constants need no library
_constants = ffi.dlopen(None)
NULL_INDEX = _constants.NOLI_NULL_INDEX


def _candidates(name: str) -> list[str]:
    """Where to look for a library, in order: NOLI_LIBRARY, the package, the system."""
    file = f"lib{name}.so.{_constants.NOLI_ABI_VERSION}"
    given = os.environ.get("NOLI_LIBRARY")
    if given:
        is_file = ".so" in os.path.basename(given)
        return [os.path.join(os.path.dirname(os.path.abspath(given)) if is_file else given, file)]
    carried = Path(__file__).parent / "lib" / file
    return [str(carried)] if carried.exists() else [file]


def _open(name: str):
    tried = []
    for path in _candidates(name):
        try:
            return ffi.dlopen(path)
        except OSError as error:
            tried.append(f"  {error}")
    raise ImportError(f"lib{name} was not found; set NOLI_LIBRARY to its folder\n" + "\n".join(tried))


@contextmanager
def _passive_threads():
    """Threads of OpenMP that wait for work by spinning make steps ten times slower on a busy machine. Their library
    reads the variable when it is loaded."""
    given = "OMP_WAIT_POLICY" in os.environ
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        yield
    finally:
        if not given:
            del os.environ["OMP_WAIT_POLICY"]


with _passive_threads():
    lib = _open("noli")
if lib.noli_version_number() < _constants.NOLI_VERSION_NUMBER:
    raise ImportError(f"libnoli {ffi.string(lib.noli_version()).decode()} is older than this package")


def importer():
    """The library that reads scenes of other programs, or None."""
    try:
        return _open("noli_import")
    except ImportError:
        return None


# ---- text ---------------------------------------------------------------------------------------

def encode(text) -> bytes:
    return os.fsencode(text)


def decode(pointer) -> str | None:
    """A string of the library; None for NULL."""
    return os.fsdecode(ffi.string(pointer)) if pointer != ffi.NULL else None


# ---- contexts -----------------------------------------------------------------------------------

_LEVELS = {0: logging.DEBUG, 1: logging.INFO, 2: logging.WARNING, 3: logging.ERROR}

_current = threading.local()


class Sink:
    """What callbacks of a call leave behind."""

    def __init__(self) -> None:
        self.raised: BaseException | None = None

    def note(self, kind, value, trace) -> None:
        """Keeps the first exception until the call returns."""
        if self.raised is None:
            self.raised = (value if value is not None else kind()).with_traceback(trace)

    def rethrow(self) -> None:
        """Raises what was kept."""
        raised, self.raised = self.raised, None
        if raised is not None:
            try:
                raise raised
            finally:
                # the traceback has this frame
                del raised


def current_sink(otherwise: Sink) -> Sink:
    """That of the call in this thread; in threads of the library there is none."""
    return getattr(_current, "sink", None) or otherwise


def _log_message(_user, level, message) -> None:
    if log.isEnabledFor(_LEVELS[level]):
        log.log(_LEVELS[level], "%s", decode(message))


def _note(kind, value, trace) -> None:
    current_sink(Sink()).note(kind, value, trace)


_receive = ffi.callback("NoliLogFn", _log_message, onerror=_note)


_rooms: weakref.WeakSet[_Room] = weakref.WeakSet()


class _Room:
    """What of a context must outlive its objects. Python may drop objects in any order and in any thread: their
    destruction waits until no thread uses the context, and the context is destroyed last."""

    def __init__(self, pointer) -> None:
        self.pointer = pointer
        self.lock = threading.RLock()
        self.busy = False
        self.objects = 0
        self.left = False
        self.lost = False
        self.rest: list[tuple] = []
        _rooms.add(self)

    def destroy(self, *item) -> None:
        """Destroys an object, (pointer, kind, function); None: the context itself."""
        self.rest.append(item)
        self.clear()

    def clear(self) -> None:
        """Destroys what has been left, unless a thread that uses the context will do so."""
        while self.rest and not self.lost and self.lock.acquire(blocking=False):
            try:
                if self.busy:
                    # this thread, in a callback
                    return
                pointer, kind, destroy = self.rest.pop()
                if pointer is None:
                    self.left = True
                else:
                    destroy(ffi.new(kind, pointer))
                    self.objects -= 1
                if self.left and self.objects == 0 and not self.rest:
                    self.left = False
                    lib.noli_context_destroy(ffi.new("NoliContext**", self.pointer))
            except IndexError:
                pass
            finally:
                self.lock.release()


def _find_lost_rooms() -> None:
    """In a child of the process: a thread that was in a call during the fork is not there, and never leaves it."""
    for room in list(_rooms):
        if room.lock.acquire(blocking=False):
            room.lock.release()
        else:
            room.lock, room.lost = threading.RLock(), True


os.register_at_fork(after_in_child=_find_lost_rooms)


class Handle:
    """A pointer to an object of the library, which is destroyed when nothing refers to the handle any more. Arrays of
    the object hold it. `kept` is what the library may use as long."""

    __slots__ = ("c", "kept", "__weakref__")

    def __init__(self, room: _Room, pointer, kind: str, destroy, *kept):
        self.c = pointer
        self.kept = kept
        room.objects += 1
        # at the end of the program the system releases memory
        weakref.finalize(self, room.destroy, pointer, kind, destroy).atexit = False


class Borrowed:
    """A pointer to a part of an object that is owned by a handle."""

    __slots__ = ("c", "owner")

    def __init__(self, pointer, owner):
        self.c = pointer
        self.owner = owner


class Context:
    """Memory, log and threads of objects of the library; every object makes its own. Messages go to the logger
    "noli" of the module logging. One thread at a time uses a context: others wait."""

    def __init__(self, threads: int = 0):
        definition = ffi.new("NoliContextDef*")
        lib.noli_context_def_init(definition, ffi.sizeof("NoliContextDef"))
        definition.log = _receive
        definition.n_threads = threads
        made = ffi.new("NoliContext**")
        status = lib.noli_context_create(definition, made)
        if status != 0:
            raise error_of(status, None)
        self.c = made[0]
        self.room = _Room(made[0])
        weakref.finalize(self, self.room.destroy, None, None, None).atexit = False

    @property
    def threads(self) -> int:
        """Threads of parallel loops."""
        return lib.noli_context_threads(self.c)

    @property
    def bytes(self) -> int:
        """Number of bytes that are allocated."""
        return lib.noli_context_bytes(self.c)

    @property
    def peak_bytes(self) -> int:
        """Maximum of `bytes` since the context was created."""
        return lib.noli_context_peak_bytes(self.c)

    @contextmanager
    def locked(self):
        """Keeps other threads out."""
        try:
            with self.room.lock:
                if self.room.lost:
                    raise RuntimeError("another thread used this object of noli while the process was forked: make "
                                       'it in the child, or start children by the method "spawn"')
                yield
        finally:
            self.room.clear()

    def try_call(self, function, *arguments) -> int:
        """Calls a function of the library and returns its status; raises what a callback raised."""
        with self.locked():
            if self.room.busy:
                raise RuntimeError("an object of noli was used in a callback of its own")
            sink, before = Sink(), getattr(_current, "sink", None)
            try:
                self.room.busy, _current.sink = True, sink
                status = function(*arguments)
            finally:
                self.room.busy, _current.sink = False, before
            sink.rethrow()
            return status

    def call(self, function, *arguments) -> None:
        """The same; raises for every status but NOLI_OK."""
        with self.locked():
            self.check(self.try_call(function, *arguments))

    def check(self, status: int) -> None:
        """Raises for every status but NOLI_OK."""
        if status != 0:
            raise error_of(status, decode(lib.noli_context_message(self.c)))

    def own(self, pointer, kind: str, destroy, *kept) -> Handle:
        """The handle of an object that was made in the context."""
        return Handle(self.room, pointer, kind, destroy, self, *kept)


def error_of(status: int, message: str | None) -> errors.Error:
    """The exception for a status."""
    return errors.BY_STATUS.get(status, errors.Error)(message or decode(lib.noli_status_text(status)))


# ---- arrays -------------------------------------------------------------------------------------

_DTYPES = {"double": np.dtype(np.float64), "float": np.dtype(np.float32), "bool": np.dtype(np.bool_),
           "_Bool": np.dtype(np.bool_), "int32_t": np.dtype(np.int32), "int64_t": np.dtype(np.int64),
           "uint32_t": np.dtype(np.uint32), "uint64_t": np.dtype(np.uint64), "int": np.dtype(np.int32),
           "unsigned int": np.dtype(np.uint32), "long": np.dtype(np.int64), "char": np.dtype("S1")}


class _Memory:
    """Memory of the library as NumPy sees it; holds its owner."""

    def __init__(self, pointer, shape, dtype, owner, writable):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": dtype.str, "descr": dtype.descr,
                                    "data": (int(ffi.cast("uintptr_t", pointer)), not writable)}


def view(pointer, shape, dtype, owner, writable=False) -> np.ndarray:
    """An array of the library without a copy, which keeps `owner` alive."""
    dtype = np.dtype(dtype)
    if pointer == ffi.NULL or 0 in shape:
        return np.empty(shape, dtype)
    return np.asarray(_Memory(pointer, tuple(shape), dtype, owner, writable))


def copy(pointer, shape, dtype) -> np.ndarray:
    """A copy of an array of the library."""
    return view(pointer, shape, dtype, None).copy()


def given(array, shape, dtype=np.float64, what="array") -> np.ndarray:
    """A contiguous array for the library, from anything that NumPy converts without loss. A None in `shape` is any
    number. Raises ValueError or TypeError."""
    made = np.asarray(array)
    if made.size == 0 and made.dtype == np.float64:
        made = made.astype(dtype)
    if not np.can_cast(made.dtype, dtype, "same_kind" if made.dtype.kind == np.dtype(dtype).kind else "safe"):
        raise TypeError(f"{what} must be of type {np.dtype(dtype)}, got {made.dtype}")
    if np.dtype(dtype).kind == "i" and made.dtype.itemsize > np.dtype(dtype).itemsize and made.size > 0:
        limits = np.iinfo(dtype)
        if made.min() < limits.min or made.max() > limits.max:
            raise ValueError(f"{what} has numbers beyond {np.dtype(dtype)}")
    if len(made.shape) != len(shape) or any(n is not None and n != m for n, m in zip(shape, made.shape)):
        if len(shape) == len(made.shape) == 1:
            raise ValueError(f"{what} must be {shape[0]} numbers, got {len(made)}")
        wanted = " x ".join("n" if n is None else str(n) for n in shape)
        got = " x ".join(map(str, made.shape)) or "a number"
        raise ValueError(f"{what} must be ({wanted}), got ({got})")
    return np.ascontiguousarray(made, dtype)


def vector(values, what="vector") -> np.ndarray:
    """Three numbers."""
    return given(values, (3,), what=what)


def pointer_to(array: np.ndarray, kind: str):
    """The address of a contiguous array."""
    return ffi.cast(kind, array.ctypes.data)


# ---- structs ------------------------------------------------------------------------------------

def _members(kind):
    return [(name, field) for name, field in kind.fields if name != "reserved"]


def _struct_name(kind) -> str:
    """"StepReport" of NoliStepReport; compiled declarations say "struct" before."""
    return kind.cname.removeprefix("struct ").removeprefix("Noli")


def _base(kind):
    """Shape and item type of an array type."""
    shape = []
    while kind.kind == "array":
        shape.append(kind.length)
        kind = kind.item
    return tuple(shape), kind


_records: dict[str, np.dtype] = {}


def record(name: str) -> np.dtype:
    """The NumPy type of a struct, without pointers and reserved members, in the layout of C."""
    if name in _records:
        return _records[name]
    kind = ffi.typeof("Noli" + name)
    names, formats, offsets = [], [], []
    for member, field in _members(kind):
        shape, base = _base(field.type)
        if base.kind == "pointer":
            continue
        if base.kind == "struct":
            dtype = record(_struct_name(base))
        elif base.cname == "char":
            dtype, shape = np.dtype(f"S{shape[-1]}"), shape[:-1]
        else:
            dtype = np.dtype(np.int32) if base.kind == "enum" else _DTYPES[base.cname]
        shape = results.SHAPES.get((name, member), shape)
        names.append(member)
        formats.append((dtype, shape))
        offsets.append(field.offset)
    _records[name] = np.dtype((np.record, np.dtype({"names": names, "formats": formats, "offsets": offsets,
                                                    "itemsize": ffi.sizeof(kind)})))
    return _records[name]


def records(pointer, count: int, name: str) -> np.recarray:
    """A copy of `count` structs."""
    dtype = record(name)
    made = np.zeros(count, dtype)
    if count > 0:
        ffi.memmove(ffi.cast("char*", made.ctypes.data), pointer, count * dtype.itemsize)
    return made.view(np.recarray)


def result(struct, name: str):
    """The dataclass of a struct of the library."""
    kind = ffi.typeof("Noli" + name)
    values = {}
    for member, field in _members(kind):
        value = getattr(struct, member)
        shape, base = _base(field.type)
        if base.kind == "struct" and not shape:
            value = result(value, _struct_name(base))
        elif base.kind == "pointer":
            value = decode(value) if base.item.cname == "char" else value
        elif shape and base.cname == "char":
            value = decode(value) if len(shape) == 1 else [decode(item) for item in value]
        elif shape:
            value = copy(value, results.SHAPES.get((name, member), shape), _DTYPES[base.cname])
        values[member] = value
    return getattr(results, name)(**values)


def keep_struct(name: str):
    """Memory for one struct, zeroed."""
    return ffi.new(f"Noli{name}*")


# ---- names --------------------------------------------------------------------------------------

def nearest(name: str, known: list[str]) -> str | None:
    """The known name that a misspelt one is meant to be; None where none is near."""
    texts = [ffi.new("char[]", encode(word)) for word in known]
    array = ffi.new("char*[]", texts or 1)
    found = lib.noli_nearest(encode(name), array, len(texts))
    return decode(found)


def index_of(name: str | int, names: list[str], what: str) -> int:
    """The number of something that has a name, given either."""
    if isinstance(name, str):
        if name not in names:
            known = ", ".join(f'"{known}"' for known in names) or "none"
            meant = nearest(name, names)
            raise KeyError(f'there is no {what} "{name}"; '
                           + (f"known: {known}" if meant is None else f'did you mean "{meant}"?'))
        return names.index(name)
    index = int(name)
    if not 0 <= index < len(names):
        raise IndexError(f"there is no {what} {index}; there are {len(names)}")
    return index
