"""Meshes of tetrahedra, triangles, segments and points: made, read, changed, written."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _library, results
from ._hints import Hinted
from ._library import Context, encode, ffi, given, lib, pointer_to, vector, view

_CELLS = (("tets", "tet", 4), ("triangles", "tri", 3), ("segments", "edge", 2), ("points", "point", 1))


class Mesh(Hinted):
    """A mesh, from arrays; or Mesh.read, Mesh.box and the other shapes.

    Arrays are views of the mesh without copies and may be written to; lengths in metres, vertices are numbered from
    0. Cells of the four kinds may be absent. Tetrahedra are right-handed: (x1-x0, x2-x0, x3-x0).
    """

    def __init__(self, positions, tets=None, triangles=None, segments=None, points=None, *, tet_tags=None,
                 triangle_tags=None):
        positions = given(positions, (None, 3), what="positions")
        cells = {}
        for (name, member, size), values in zip(_CELLS, (tets, triangles, segments, points)):
            shape = (None, size) if size > 1 else (None,)
            empty = np.empty((0, size) if size > 1 else 0, np.int32)
            cells[member] = given(empty if values is None else values, shape, np.int32, name)
            if cells[member].size and not 0 <= cells[member].min() <= cells[member].max() < len(positions):
                raise ValueError(f"{name} name a vertex that does not exist; there are {len(positions)}")
        tags = {"tet_tag": (tet_tags, len(cells["tet"]), "tet_tags"),
                "tri_tag": (triangle_tags, len(cells["tri"]), "triangle_tags")}
        tags = {member: given(np.zeros(n, np.int32) if values is None else values, (n,), np.int32, name)
                for member, (values, n, name) in tags.items()}
        self._make(lib.noli_mesh_create, len(positions), *(len(cells[member]) for _, member, _ in _CELLS),
                   tet_tags is not None or triangle_tags is not None)
        self.positions[...] = positions
        for member, values in (cells | tags).items():
            target = getattr(self.c, member)
            if values.size and target != ffi.NULL:
                ffi.memmove(target, pointer_to(values, "char*"), values.nbytes)

    def _make(self, function, *arguments) -> None:
        self.context = Context()
        made = ffi.new("NoliMesh**")
        self.context.call(function, self.context.c, *arguments, made)
        self.c, context_c = made[0], self.context.c
        self._h = self.context.own(self.c, "NoliMesh**", lambda address: lib.noli_mesh_destroy(context_c, address))

    @classmethod
    def _made(cls, function, *arguments) -> Mesh:
        mesh = cls.__new__(cls)
        mesh._make(function, *arguments)
        return mesh

    @classmethod
    def _copy_of(cls, c) -> Mesh:
        """A copy of a straight mesh of the library."""
        if c.order > 1:
            raise ValueError("a curved mesh cannot be copied: write it to a .msh file")

        def copied(member, size):
            count = getattr(c, "n_" + member)
            return _library.copy(getattr(c, member), (count, size) if size > 1 else (count,), np.int32)

        def tags(member, count):
            return _library.copy(getattr(c, member), (count,), np.int32) if getattr(c, member) != ffi.NULL else None
        return cls(_library.copy(c.x, (c.n_vert, 3), np.float64), *(copied(member, size) for _, member, size in _CELLS),
                   tet_tags=tags("tet_tag", c.n_tet), triangle_tags=tags("tri_tag", c.n_tri))

    # -- arrays --

    @property
    def positions(self) -> np.ndarray:
        """Positions of the vertices, m, (n x 3)."""
        return view(self.c.x, (self.c.n_vert, 3), np.float64, self._h, True)

    @property
    def tets(self) -> np.ndarray:
        """Vertices of tetrahedra, (n x 4)."""
        return view(self.c.tet, (self.c.n_tet, 4), np.int32, self._h, True)

    @property
    def triangles(self) -> np.ndarray:
        """Vertices of triangles, (n x 3)."""
        return view(self.c.tri, (self.c.n_tri, 3), np.int32, self._h, True)

    @property
    def segments(self) -> np.ndarray:
        """Vertices of segments, (n x 2)."""
        return view(self.c.edge, (self.c.n_edge, 2), np.int32, self._h, True)

    @property
    def points(self) -> np.ndarray:
        """Vertices that are points, (n)."""
        return view(self.c.point, (self.c.n_point,), np.int32, self._h, True)

    @property
    def tet_tags(self) -> np.ndarray | None:
        """A tag of each tetrahedron, (n); None without tags."""
        return view(self.c.tet_tag, (self.c.n_tet,), np.int32, self._h, True) if self.c.tet_tag else None

    @property
    def triangle_tags(self) -> np.ndarray | None:
        """A tag of each triangle, (n); None without tags."""
        return view(self.c.tri_tag, (self.c.n_tri,), np.int32, self._h, True) if self.c.tri_tag else None

    @property
    def order(self) -> int:
        """Order of the shape of the tetrahedra: 1 straight, 2 to 4 curved."""
        return max(self.c.order, 1)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The corners of the smallest box around all vertices."""
        return self.positions.min(axis=0), self.positions.max(axis=0)

    def to_dict(self) -> dict[str, Any]:
        """The key "arrays" of the mesh of a scene. Straight meshes only: others go through a file."""
        if self.order > 1:
            raise ValueError("a curved mesh has no arrays for a scene: write it to a .msh file and name that")
        made = {"positions": self.positions.tolist()}
        for name in ("tets", "triangles", "segments", "points"):
            values = getattr(self, name)
            if len(values):
                made[name] = values.tolist()
        for name in ("tet_tags", "triangle_tags"):
            values = getattr(self, name)
            if values is not None and len(values):
                made[name] = values.tolist()
        return made

    def __repr__(self) -> str:
        c = self.c
        return f"<noli.Mesh: {c.n_vert} vertices, {c.n_tet} tets, {c.n_tri} triangles, {c.n_edge} segments, " \
               f"{c.n_point} points>"

    # -- files --

    @classmethod
    def read(cls, path: str | os.PathLike) -> Mesh:
        """Reads .msh, .vtk, .mesh, .inp, .obj, .ply, .stl, .seg and .pt files."""
        return cls._made(lib.noli_mesh_read, encode(path))

    def write(self, path: str | os.PathLike) -> None:
        """Writes a .msh, .vtk, .obj, .ply or .stl file, exactly."""
        self.context.call(lib.noli_mesh_write, self.context.c, encode(path), self.c)

    # -- changes --

    def transform(self, scale=(1, 1, 1), rotate=(0, 0, 0), translate=(0, 0, 0)) -> Mesh:
        """x <- R (scale x) + translate, R = Rx Ry Rz with angles in degrees. Returns the mesh."""
        scale = np.broadcast_to(np.asarray(scale, float), (3,)) if np.ndim(scale) == 0 else scale
        vectors = [vector(values, what) for values, what in
                   ((scale, "scale"), (rotate, "rotate"), (translate, "translate"))]
        lib.noli_mesh_transform(self.c, *(pointer_to(values, "double*") for values in vectors))
        return self

    def refined(self, times: int = 1) -> Mesh:
        """A copy whose tetrahedra are cut into 8, triangles into 4 and segments into 2, `times` times."""
        return self._changed(lib.noli_mesh_refine, times)

    def with_order(self, order: int) -> Mesh:
        """A copy whose tetrahedra have a shape of this order, 1 to 4."""
        return self._changed(lib.noli_mesh_set_order, order)

    def cleaned(self, tolerance: float = 0) -> Mesh:
        """A copy in which vertices within `tolerance` (m) are one, without cells that have no size or occur twice."""
        done = ffi.new("NoliMeshCleaned*")
        made = self._changed(lib.noli_mesh_clean, tolerance, done)
        lib.noli_mesh_cleaned_free(made.context.c, done)
        return made

    def _changed(self, function, *arguments) -> Mesh:
        made = self._copy_of(self.c)
        made.context.call(function, made.context.c, made.c, *arguments)
        return made

    def extract(self, part: str = "surface") -> Mesh:
        """An obstacle of "surface", "edges" or "points" of the mesh."""
        return self._made(lib.noli_mesh_extract, self.c, encode(part))

    def boundary(self) -> np.ndarray:
        """The boundary triangles of the tetrahedra, outward, (n x 3)."""
        return self._array(lib.noli_mesh_boundary, 3)

    def outline(self) -> np.ndarray:
        """The edges that belong to one triangle only, (n x 2)."""
        return self._array(lib.noli_mesh_outline, 2)

    def _array(self, function, size) -> np.ndarray:
        found, count = ffi.new("int32_t**"), ffi.new("int32_t*")
        self.context.call(function, self.context.c, self.c, found, count)
        made = _library.copy(found[0], (count[0], size), np.int32)
        lib.noli_mesh_free_array(self.context.c, found)
        return made

    def orient(self) -> int:
        """Makes every tetrahedron positive by exchanging two vertices. Returns how many were changed."""
        return lib.noli_mesh_orient(self.c)

    def check(self) -> results.MeshCheck:
        """The defects of the mesh."""
        found = ffi.new("NoliMeshCheck*")
        self.context.call(lib.noli_mesh_check_sized, self.context.c, self.c, found, ffi.sizeof("NoliMeshCheck"))
        return _library.result(found, "MeshCheck")

    # -- shapes, centred at the origin; lengths in metres, resolutions in cells. Those of scenes, docs/reference/scene.md --

    @classmethod
    def box(cls, size: Sequence[float] = (1, 1, 1), cells: Sequence[int] = (4, 4, 4), *, surface=False) -> Mesh:
        """A box; with `surface` only its boundary."""
        return cls._made(lib.noli_mesh_make_box, _lengths(size, 3), _counts(cells, 3), surface)

    @classmethod
    def sphere(cls, radius: float = 0.5, cells: int = 8, geometry_order: int = 1, inner_radius: float | None = None,
               layers: int = 1, *, surface=False) -> Mesh:
        """A ball of `cells` cells across; with `inner_radius` with a concentric cavity and `layers` of cells through
        the wall; curved with a `geometry_order` of 2 to 4."""
        if inner_radius is not None:
            _only_straight(geometry_order, "a hollow ball")
            return cls.hollow_sphere(radius, inner_radius, cells, layers, surface=surface)
        if surface:
            _only_straight(geometry_order, "a surface")
            return cls._made(lib.noli_mesh_make_sphere, radius, cells, True)
        return cls._made(lib.noli_mesh_make_curved_sphere, radius, cells, geometry_order)

    @classmethod
    def hollow_sphere(cls, radius: float = 0.5, inner_radius: float = 0.4, cells: int = 8, layers: int = 1, *,
                      surface=False) -> Mesh:
        """A ball with a concentric cavity."""
        return cls._made(lib.noli_mesh_make_hollow_sphere, radius, inner_radius, cells, layers, surface)

    @classmethod
    def cylinder(cls, radius: float = 0.5, height: float = 1, cells_across: int = 8, cells_along: int = 8,
                 geometry_order: int = 1, *, surface=False) -> Mesh:
        """A cylinder along y; curved with a `geometry_order` of 2 to 4."""
        if surface:
            _only_straight(geometry_order, "a surface")
            return cls._made(lib.noli_mesh_make_cylinder, radius, height, cells_across, cells_along, True)
        return cls._made(lib.noli_mesh_make_curved_cylinder, radius, height, cells_across, cells_along,
                         geometry_order)

    @classmethod
    def rod(cls, length: float = 1, width: float = 0.1, cells_along: int = 20, cells_across: int = 2, *,
            surface=False) -> Mesh:
        """A long box along x with a square section."""
        return cls._made(lib.noli_mesh_make_rod, length, width, cells_along, cells_across, surface)

    @classmethod
    def mat(cls, size: Sequence[float] = (1, 1), thickness: float = 0.01, cells: Sequence[int] = (20, 20), *,
            surface=False) -> Mesh:
        """A thin plate in the xz plane with one layer of cells."""
        return cls._made(lib.noli_mesh_make_mat, *_lengths(size, 2), thickness, *_counts(cells, 2), surface)

    @classmethod
    def torus(cls, ring_radius: float = 0.5, tube_radius: float = 0.125, cells_around: int = 32, cells_across: int = 4,
              *, surface=False) -> Mesh:
        """A ring around y."""
        return cls._made(lib.noli_mesh_make_torus, ring_radius, tube_radius, cells_around, cells_across, surface)

    @classmethod
    def bowl(cls, radius: float = 0.5, thickness: float = 0.05, angle: float = 90, cells: int = 12,
             cells_through: int = 1, *, surface=False) -> Mesh:
        """A bowl upside down: a part of a hollow ball within `angle` degrees of the y axis."""
        return cls._made(lib.noli_mesh_make_bowl, radius, thickness, angle, cells, cells_through, surface)

    @classmethod
    def voxels(cls, filled, size: Sequence[float] = (1, 1, 1), cells: Sequence[int] | None = None, *,
               surface=False) -> Mesh:
        """Those cells of a grid over a box of `size` for which the array `filled` (nx x ny x nz) is true. It may be a
        function of the centres of `cells` (default: 8 x 8 x 8), three arrays x, y, z."""
        lengths = _lengths(size, 3)
        if callable(filled):
            counts = (8, 8, 8) if cells is None else tuple(_counts(cells, 3))
            axes = [length * ((np.arange(n) + 0.5) / n - 0.5) for length, n in zip(lengths, counts)]
            filled = np.broadcast_to(np.asarray(filled(*np.meshgrid(*axes, indexing="ij"))) != 0, counts)
        elif cells is not None and tuple(_counts(cells, 3)) != np.shape(filled):
            raise ValueError(f"filled has the shape {np.shape(filled)}, cells are {tuple(cells)}")
        filled = given(filled, (None, None, None), np.bool_, "filled")
        return cls._made(lib.noli_mesh_make_voxels, lengths, _counts(filled.shape, 3), pointer_to(filled, "bool*"),
                         surface)

    @classmethod
    def bolt(cls, radius: float = 0.02, length: float = 0.06, pitch: float = 0.01, depth: float = 0.005,
             cells_across: int = 8, cells_along: int = 48, *, surface=False) -> Mesh:
        """A threaded rod along y."""
        return cls._made(lib.noli_mesh_make_bolt, radius, length, pitch, depth, cells_across, cells_along, surface)

    @classmethod
    def nut(cls, inner_radius: float = 0.0205, outer_radius: float = 0.04, height: float = 0.02, pitch: float = 0.01,
            depth: float = 0.005, cells_around: int = 36, cells_through: int = 2, cells_along: int = 16, *,
            surface=False) -> Mesh:
        """A hexagonal nut with its hole along y; `inner_radius`: the radius of its bolt plus a clearance."""
        return cls._made(lib.noli_mesh_make_nut, inner_radius, outer_radius, height, pitch, depth, cells_around,
                         cells_through, cells_along, surface)

    @classmethod
    def truss(cls, joints: Sequence[int] = (2, 2, 2), spacing: float = 1, joint_radius: float = 0.3,
              strut_radius: float = 0.15, cells_across: int = 2, cells_along: int = 2, geometry_order: int = 1, *,
              surface=False) -> Mesh:
        """Balls on a cubic lattice, joined by round struts; curved with a `geometry_order` of 2 to 4."""
        return cls._made(lib.noli_mesh_make_truss, _counts(joints, 3, "joints"), spacing, joint_radius, strut_radius,
                         cells_across, cells_along, geometry_order, surface)

    @classmethod
    def plane(cls, size: Sequence[float] = (1, 1), cells: Sequence[int] = (1, 1), pattern: str | None = None) -> Mesh:
        """A flat sheet of triangles in the xz plane, looking up; choices("sheet pattern") lists the patterns."""
        if pattern is None:
            return cls._made(lib.noli_mesh_make_plane, *_lengths(size, 2), *_counts(cells, 2))
        return cls.sheet(size, cells, pattern).transform(rotate=(-90, 0, 0))

    @classmethod
    def rectangle(cls, size: Sequence[float] = (1, 1), cells: Sequence[int] = (4, 4),
                  pattern: str | None = None) -> Mesh:
        """A rectangle of triangles in the xy plane, for plane strain; choices("sheet pattern") lists the patterns."""
        if pattern is None:
            return cls._made(lib.noli_mesh_make_rectangle, *_lengths(size, 2), *_counts(cells, 2))
        return cls.sheet(size, cells, pattern)

    @classmethod
    def sheet(cls, size: Sequence[float] = (1, 1), cells: Sequence[int] = (4, 4), pattern: str = "symmetric") -> Mesh:
        """A rectangle of triangles in the xy plane, looking at +z; choices("sheet pattern") lists the patterns."""
        return cls._made(lib.noli_mesh_make_sheet, *_lengths(size, 2), *_counts(cells, 2), encode(pattern))

    @classmethod
    def disk(cls, radius: float = 0.5, cells: int = 8, rings: int | None = None) -> Mesh:
        """A disk of triangles in the xy plane; with `rings` of nearly equilateral triangles in place of `cells`."""
        if rings is None:
            return cls._made(lib.noli_mesh_make_disk, radius, cells)
        return cls._made(lib.noli_mesh_make_ring_disk, radius, rings)

    @classmethod
    def polygon(cls, corners, cells: int = 4) -> Mesh:
        """A polygon in the xy plane whose `corners` (n x 2) run counterclockwise."""
        corners = given(corners, (None, 2), what="corners")
        return cls._made(lib.noli_mesh_make_polygon, pointer_to(corners, "double*"), len(corners), cells)

    @classmethod
    def revolution(cls, profile, cells_around: int = 32) -> Mesh:
        """A surface of revolution around y, for obstacles; `profile` (n x 2): distances from the axis and heights."""
        profile = given(profile, (None, 2), what="profile")
        return cls._made(lib.noli_mesh_make_revolution, pointer_to(profile, "double*"), len(profile), cells_around)

    @classmethod
    def tube(cls, radius: float = 0.5, height: float = 1, cells_around: int = 32, cells_along: int = 12) -> Mesh:
        """An open cylinder of triangles around y."""
        return cls._made(lib.noli_mesh_make_tube, radius, height, cells_around, cells_along)

    @classmethod
    def icosphere(cls, radius: float = 0.5, subdivision: int = 4) -> Mesh:
        """A sphere of 20 subdivision^2 triangles."""
        return cls._made(lib.noli_mesh_make_icosphere, radius, subdivision)

    @classmethod
    def torus_shell(cls, ring_radius: float = 0.5, tube_radius: float = 0.125, cells_around: int = 32,
                    cells_across: int = 8) -> Mesh:
        """The surface of a ring around y, of triangles."""
        return cls._made(lib.noli_mesh_make_torus_shell, ring_radius, tube_radius, cells_around, cells_across)

    @classmethod
    def moebius(cls, radius: float = 0.5, width: float = 0.25, cells_around: int = 48, cells_across: int = 4) -> Mesh:
        """A Moebius strip of triangles around y."""
        return cls._made(lib.noli_mesh_make_moebius, radius, width, cells_around, cells_across)

    @classmethod
    def chain_mail(cls, rings: Sequence[int] = (4, 4), radius: float = 0.05, tube_radius: float | None = None,
                   cells_around: int = 16, cells_across: int = 2) -> Mesh:
        """Linked rings in the xz plane: closed lines of segments, or solid ones of a `tube_radius`."""
        counts = _counts(rings, 2, "rings")
        if tube_radius is None:
            return cls._made(lib.noli_mesh_make_chain_mail, counts, radius, cells_around)
        return cls._made(lib.noli_mesh_make_solid_chain_mail, counts, radius, tube_radius, cells_around, cells_across)

    @classmethod
    def line(cls, length: float = 1, segments: int = 32) -> Mesh:
        """Segments in a row along x."""
        return cls._made(lib.noli_mesh_make_line, length, segments)

    @classmethod
    def ring(cls, radius: float = 0.5, segments: int = 64) -> Mesh:
        """A closed ring of segments around y."""
        return cls.helix(radius, 0, 1, segments)

    @classmethod
    def helix(cls, radius: float = 0.1, pitch: float = 0.1, turns: float = 5, segments: int = 160) -> Mesh:
        """Segments that wind around y; with pitch 0 and one turn a closed ring."""
        return cls._made(lib.noli_mesh_make_helix, radius, pitch, turns, segments)

    @classmethod
    def curve(cls, points, segments: int = 64) -> Mesh:
        """Segments of equal lengths along the polyline through `points` (n x 3), m; closed if the last point is the
        first one. `points` may be a function of a number from 0 to 1, which gives three."""
        if callable(points):
            points = [points(t) for t in np.linspace(0, 1, 32 * segments + 1)]
        points = given(points, (None, 3), what="points")
        return cls._made(lib.noli_mesh_make_curve, pointer_to(points, "double*"), len(points), segments)


def _lengths(values, n: int):
    return ffi.new(f"double[{n}]", given(values, (n,), what="size").tolist())


def _counts(values, n: int, what: str = "cells"):
    """Whole numbers, of any type."""
    counts = np.asarray(values)
    if counts.dtype.kind == "f" and (counts == np.trunc(counts)).all():
        counts = counts.astype(np.int64)
    return ffi.new(f"int32_t[{n}]", given(counts, (n,), np.int32, what).tolist())


def _only_straight(geometry_order: int, what: str) -> None:
    if geometry_order != 1:
        raise ValueError(f"{what} has straight elements: no geometry_order above 1, got {geometry_order}")
