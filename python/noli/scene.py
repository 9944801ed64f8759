"""Scenes: what to simulate, as a dict, a JSON text or a file. docs/reference/scene.md lists all keys."""
from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _library
from ._hints import Hinted
from ._library import Context, decode, encode, ffi, lib
from .mesh import Mesh

#: where vertices go: f(t, X) -> x, with the rest positions X (n x 3) and the positions x at time t, (n x 3) or
#: anything that NumPy extends to it
Motion = Callable[[float, np.ndarray], Any]
#: a load: f(t, X) -> values (n x 3), in the unit of its key
Force = Callable[[float, np.ndarray], Any]

_FORCE_KEYS = ("acceleration", "nodal", "total", "traction", "pressure")
_MARK = "#function "


class Scene(Hinted):
    """A scene with all defaults filled in.

    `source` is a dict, or the path of a file (of noli, or of another program that docs/reference/import.md names). In a dict a
    mesh may be a Mesh, a list may be a NumPy array, and a motion, or the value of a force, may be a function f(t, X)
    of the time and the rest positions (n x 3):

        noli.Scene({
            "time": {"step": 0.01, "duration": 1},
            "bodies": [{"name": "cube", "mesh": {"box": {"size": [1, 1, 1], "cells": [4, 4, 4]}}}],
            "prescribed": [{"body": "cube", "select": {"side": "-y"}, "motion": lambda t, X: X + [0.1 * t, 0, 0]}],
        })

    Functions must not depend on anything else: a step may be repeated. `overrides` replace single values, as
    {"time.step": 0.005}; `directory` is where relative paths of a dict or text start. Raises FormatError, FileError
    and ArgumentError with the place of the mistake.
    """

    def __init__(self, source: Mapping[str, Any] | str | os.PathLike, *, overrides: Mapping[str, Any] | None = None,
                 directory: str | os.PathLike | None = None):
        self._functions: list[Callable] = []
        self.context = Context()
        if isinstance(source, Mapping):
            text = json.dumps(self._plain(source, ()), allow_nan=True)
            self._make(lib.noli_scene_parse, (encode(text), ffi.NULL, _path(directory)), overrides)
        elif isinstance(source, (str, os.PathLike)):
            importer = _library.importer()
            load = importer.noli_import_load if importer is not None else lib.noli_scene_load
            self._make(load, (encode(source),), overrides, importer)
        else:
            raise TypeError(f"a scene is a dict or a path, not {type(source).__name__}")

    @classmethod
    def parse(cls, text: str, *, name: str = "scene", overrides: Mapping[str, Any] | None = None,
              directory: str | os.PathLike | None = None) -> Scene:
        """A scene from JSON text; `name` stands for the file in messages."""
        made = cls.__new__(cls)
        made._functions = []
        made.context = Context()
        made._make(lib.noli_scene_parse, (encode(text), encode(name), _path(directory)), overrides)
        return made

    def _make(self, function, arguments, overrides, *kept) -> None:
        items = [(encode(path), encode(json.dumps(_value(value)))) for path, value in (overrides or {}).items()]
        texts = [(ffi.new("char[]", path), ffi.new("char[]", value)) for path, value in items]
        array = ffi.new("NoliSceneOverride[]", [{"path": path, "value": value} for path, value in texts] or 1)
        made = ffi.new("NoliScene**")
        self.context.call(function, self.context.c, *arguments, array, len(texts), made)
        self.c = made[0]
        self._h = self.context.own(made[0], "NoliScene**", lib.noli_scene_destroy, *kept)

    # -- what JSON cannot hold --

    def _plain(self, value: Any, path: tuple) -> Any:
        """The JSON of a value: meshes become arrays, functions become controls that are replaced later."""
        if isinstance(value, Mesh):
            return {"arrays": value.to_dict()}
        if isinstance(value, Mapping):
            return {str(key): self._plain(item, path + (str(key),)) for key, item in self._named(value, path).items()}
        if isinstance(value, (list, tuple)):
            return [self._plain(item, path + (i,)) for i, item in enumerate(value)]
        if callable(value):
            where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)[1:]
            raise TypeError(f"{where}: a function is a motion, or the value of a force")
        return _value(value)

    def _named(self, entry: Mapping, path: tuple) -> Mapping:
        """An entry of obstacles, prescribed or forces whose functions have been replaced. Its name refers to them."""
        kind = path[0] if len(path) == 2 else None
        keys = {"obstacles": ("motion",), "prescribed": ("motion",), "forces": _FORCE_KEYS}.get(kind, ())
        for key in keys:
            if callable(entry.get(key)):
                mark = f"{_MARK}{len(self._functions)}"
                self._functions.append(entry[key])
                name = entry.get("name", f"obstacle_{path[1]}" if kind == "obstacles" else "")
                control: Any = "controlled" if kind == "forces" else {"controlled": True, "name": f"{name}{mark}"}
                entry = {**entry, key: control}
                if kind == "forces":
                    entry["name"] = f"{name}{mark}"
                elif kind == "prescribed":
                    entry.pop("name", None)
        return entry

    # -- what it says --

    @property
    def name(self) -> str:
        """Its name, or that of its file."""
        return decode(lib.noli_scene_name(self.c))

    @property
    def steps(self) -> int:
        """Number of steps to run."""
        return lib.noli_scene_step_count(self.c)

    @property
    def duration(self) -> float:
        """Simulated time, s."""
        return lib.noli_scene_duration(self.c)

    @property
    def bodies(self) -> list[str]:
        """Names of bodies and obstacles."""
        definition = self._definition()
        return [decode(definition.bodies[i].name) for i in range(definition.n_bodies)]

    def to_json(self) -> str:
        """The scene with all defaults filled in, as JSON that can be run from any folder. Functions are controls in
        it."""
        made = ffi.new("char**")
        with self.context.locked():
            self.context.call(lib.noli_scene_json, self.c, made)
            text = decode(made[0])
            lib.noli_scene_free_text(self.context.c, made)
        return re.sub(re.escape(_MARK) + r"\d+", "", text)

    def to_dict(self) -> dict[str, Any]:
        """The same as a dict."""
        return json.loads(self.to_json())

    def mesh(self, body: str | int) -> Mesh:
        """A copy of the rest shape of a body, where it was placed."""
        definition = self._definition()
        index = _library.index_of(body, self.bodies, "body")
        return Mesh._copy_of(definition.bodies[index].mesh)

    def check(self) -> np.recarray:
        """All initial defects: where surfaces intersect or touch, and inverted elements; an array with the fields of
        results.Defect, empty if there are none. docs/api lists the kinds of NoliDefectKind. Raises an error where a
        motion or a force of the scene is not finite in one of its steps; functions of Python are not called."""
        found, count = ffi.new("NoliDefect**"), ffi.new("int64_t*")
        with self.context.locked():
            self.context.call(lib.noli_sim_check, self.context.c, self._definition(), found, count)
            defects = _library.records(found[0], count[0], "Defect")
            lib.noli_sim_check_free(self.context.c, found)
            if len(defects) == 0:
                self.context.call(lib.noli_sim_check_conditions, self.context.c, self._definition(), self.steps)
        return defects

    def __repr__(self) -> str:
        return f"<noli.Scene {self.name!r}: {len(self.bodies)} bodies, {self.steps} steps>"

    def _definition(self):
        sizes = ffi.new("NoliDefSizes*")
        for name, _ in ffi.typeof("NoliDefSizes").fields:
            kind = "DefSizes" if name == "size" else name.title().replace("_", "") + "Def"
            setattr(sizes, name, ffi.sizeof("Noli" + kind))
        found = lib.noli_scene_sim_def_sized(self.c, sizes)
        if found == ffi.NULL:
            raise MemoryError("no memory for the definition of the scene")
        return found

    def _with_functions(self, callbacks):
        """A copy of the definition whose functions are those of `callbacks`, which makes them; and what it needs."""
        definition = ffi.new("NoliSimDef*", self._definition()[0])
        kept: list[Any] = []
        for list_name, kind, member, make in (("motions", "MotionDef", "target", callbacks.motion),
                                              ("forces", "ForceDef", "value", callbacks.force)):
            count = getattr(definition, "n_" + list_name)
            items = ffi.new(f"Noli{kind}[]", max(count, 1))
            if count > 0:
                ffi.memmove(items, getattr(definition, list_name), count * ffi.sizeof("Noli" + kind))
            for i in range(count):
                marked = (decode(items[i].name) or "").rpartition(_MARK)
                found = re.match(r"\d+", marked[2]) if marked[1] else None
                if found:
                    function = self._functions[int(found[0])]
                    text = ffi.new("char[]", encode(marked[0] + marked[2][found.end():]))
                    callback = make(function)
                    items[i].name = text if len(text) > 1 else ffi.NULL
                    items[i].controlled = False
                    setattr(items[i], member, callback)
                    kept += [text, callback]
            setattr(definition, list_name, items)
            kept.append(items)
        return definition, kept


def schema() -> dict[str, Any]:
    """The JSON Schema of scenes."""
    context, made = Context(), ffi.new("char**")
    context.call(lib.noli_scene_schema, context.c, made)
    text = decode(made[0])
    lib.noli_scene_free_text(context.c, made)
    return json.loads(text)


def _path(directory):
    return encode(directory) if directory is not None else ffi.NULL


def _value(value: Any) -> Any:
    """Numbers and arrays of NumPy as those of Python."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_value(item) for item in value]
    return value
