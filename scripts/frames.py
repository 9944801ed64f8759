"""Reads the result of a run: frames (compressed VTU, as written by src/output/frames/vtu.c) and the names in scene.json.

Needs only NumPy. Other programs read the same files with meshio or VTK.
"""
import base64
import binascii
import json
import os
import re
import xml.etree.ElementTree as xml
import zlib

import numpy as np

TETRAHEDRON, TRIANGLE, LINE, VERTEX = 10, 5, 3, 1
TYPES = {"Float32": "<f4", "Float64": "<f8", "Int32": "<i4", "Int64": "<i8", "UInt8": "<u1"}


class BadRun(Exception):
    """An error in a run; the status is 2 for bad input, 4 for file and system errors."""

    def __init__(self, message, status=2):
        super().__init__(message)
        self.status = status


def read_text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise BadRun(f"{path}: cannot be read: {error.strerror}", 4) from None
    except UnicodeDecodeError:
        raise BadRun(f"{path}: is not text") from None


def list_frames(directory):
    """Paths of the frames listed in frames.pvd, in order of time."""
    if not os.path.exists(os.path.join(directory, "frames.pvd")):
        raise BadRun(f"{directory}: is not the directory of a run: frames.pvd is missing", 4)
    names = re.findall(r'file="([^"]+)"', read_text(os.path.join(directory, "frames.pvd")))
    if not names:
        raise BadRun(f"{directory}: frames.pvd lists no frames")
    return [os.path.join(directory, name) for name in names]


def read_scene(directory):
    """The scene as run, with all defaults; None if the directory has none."""
    path = os.path.join(directory, "scene.json")
    if not os.path.exists(path):
        return None
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise BadRun(f"{path}: {error}") from None


def decode(text, kind):
    """An array: a header (number of blocks, size of a block, size of the last, compressed sizes), then the
    compressed blocks; both in base64."""
    text = text.strip()
    n_blocks = int(np.frombuffer(base64.b64decode(text[:12])[:8], "<u8")[0])
    n_bytes = 8 * (3 + n_blocks)
    n_characters = 4 * ((n_bytes + 2) // 3)
    sizes = np.frombuffer(base64.b64decode(text[:n_characters])[:n_bytes], "<u8")[3:]
    data, blocks, start = base64.b64decode(text[n_characters:]), [], 0
    for size in sizes:
        blocks.append(zlib.decompress(data[start : start + int(size)]))
        start += int(size)
    return np.frombuffer(b"".join(blocks), TYPES[kind])


class Frame:
    """points (n x 3), types and cells (a list of vertices each, by offsets), point_data and cell_data by name."""

    def __init__(self, piece, time):
        self.time = time
        self.point_data, self.cell_data = ({array.get("Name"): self.array(array) for array in piece.find(place)}
                                           for place in ("PointData", "CellData"))
        self.points = self.array(piece.find("Points")[0]).astype(float)
        cells = {array.get("Name"): self.array(array) for array in piece.find("Cells")}
        self.types, self.offsets = cells["types"], cells["offsets"].astype(np.int64)
        self.connectivity = cells["connectivity"].astype(np.int64)

    @staticmethod
    def array(element):
        values = decode(element.text or "", element.get("type"))
        n = int(element.get("NumberOfComponents", "1"))
        return values.reshape(-1, n) if n > 1 else values

    def cells(self, kind):
        """Indices of the cells of a type, and their vertices, one row each."""
        size = {TETRAHEDRON: 4, TRIANGLE: 3, LINE: 2, VERTEX: 1}[kind]
        index = np.flatnonzero(self.types == kind)
        return index, self.connectivity[self.offsets[index][:, None] - np.arange(size, 0, -1)]


def read_frame(path):
    text = read_text(path)
    try:
        grid = xml.fromstring(text).find("UnstructuredGrid")
        return Frame(grid.find("Piece"), float(grid.find("FieldData")[0].text))
    except (xml.ParseError, AttributeError, KeyError, IndexError, TypeError, ValueError, binascii.Error,
            zlib.error) as error:
        raise BadRun(f"{path}: is not a frame of Noli, or is damaged: {error}") from None
