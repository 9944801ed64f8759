#!/usr/bin/python3
"""Renders a frame of a run as a PNG picture, without a display.

examples:
  render.py out/demo demo.png                           the last frame
  render.py out/demo demo.png --frame 40 --field von_mises
  render.py out/press press.png --hide plate            without the body, obstacle or half-space of that name
  render.py out/press press.png --transparent plate=0.5
  render.py out/demo demo.png --every 4                 a moving picture (APNG) of every fourth frame, in real time

Draws the half-spaces of the scene.json of the run. Needs only python3-numpy: triangles
are rasterized with a depth buffer, with light from above and soft shadows.

exit status: 0 success, 2 bad options or a damaged run, 4 file or system error
"""
import argparse
import difflib
import os
import re
import struct
import sys
import zlib

try:
    import numpy as np
except ImportError:
    print("render.py: NumPy is missing: apt-get install python3-numpy, and start it as scripts/render.py",
          file=sys.stderr)
    sys.exit(4)

import frames
from frames import BadRun

# those of src/output/body_colours.c
PALETTE = np.array([[0.36, 0.61, 0.84], [0.93, 0.58, 0.34], [0.44, 0.72, 0.48], [0.78, 0.55, 0.82],
                    [0.86, 0.76, 0.38], [0.84, 0.47, 0.50], [0.40, 0.74, 0.74], [0.63, 0.60, 0.87]])
OBSTACLE_COLOUR = np.array([0.62, 0.64, 0.68])
FLOOR_COLOUR = np.array([0.80, 0.82, 0.85])
LIGHT = np.array([0.35, 0.85, 0.40]) / np.linalg.norm([0.35, 0.85, 0.40])
SUPERSAMPLING = 2
FILLED = 0.8
OPAQUE, HIDDEN, GLASS = 1.0, 0.0, 0.3


# ---- drawn objects --------------------------------------------------------------------------------

class HalfSpace:
    def __init__(self, name, origin, normal):
        self.name, self.origin = name, np.array(origin, dtype=float)
        self.normal = np.array(normal, dtype=float) / np.linalg.norm(normal)


class Scene:
    """Names, in the order in which frames number bodies, and half-spaces; all empty without scene.json."""

    def __init__(self, tree):
        tree = tree or {}
        self.bodies, self.copies = [], {}
        for body in tree.get("bodies", []):
            name, copies = body["name"], body.get("copies")
            self.copies[name] = [f"{name}[{k}]" for k in range(copies["count"])] if copies else [name]
            self.bodies += self.copies[name]
        self.obstacles = [obstacle["name"] for obstacle in tree.get("obstacles", [])]
        self.half_spaces = [HalfSpace(wall["name"], wall["origin"], wall["normal"])
                            for wall in tree.get("half_spaces", [])]

    def find(self, name):
        """The names that this one stands for: all copies of a body, or itself."""
        if name in self.copies:
            return self.copies[name]
        names = self.bodies + self.obstacles + [wall.name for wall in self.half_spaces]
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise BadRun(f'the scene has no "{name}"{hint} It has: {", ".join(names)}' if names else
                         f'there is no "{name}": no scene.json with names lies beside the frame')
        return [name]


def choose_opacity(scene, arguments):
    """Opacity by name; 1 by default."""
    opacity = dict.fromkeys(scene.obstacles, HIDDEN) if arguments.bodies else {}
    for word in arguments.transparent:
        name, _, alpha = word.partition("=")
        try:
            value = float(alpha) if alpha else GLASS
        except ValueError:
            value = -1.0
        opacity.update(dict.fromkeys(scene.find(name), value))
        if not 0.0 <= value <= 1.0:
            raise BadRun(f"--transparent {word}: want NAME=ALPHA with ALPHA from 0 (invisible) to 1 (opaque)")
    for name in arguments.hide:
        opacity.update(dict.fromkeys(scene.find(name), HIDDEN))
    return opacity


def find_frame(path, number):
    """Path of a frame and its directory."""
    if not os.path.isdir(path):
        if not os.path.exists(path):
            raise BadRun(f"{path}: no such file or directory", 4)
        return path, os.path.dirname(path)
    paths = frames.list_frames(path)
    if not -len(paths) <= number < len(paths):
        raise BadRun(f"--frame {number}: {path} has frames 0 to {len(paths) - 1}")
    return paths[number], path


def boundary(tets):
    """Triangles that belong to one tetrahedron, outward, and the tetrahedron of each."""
    faces = np.concatenate([tets[:, [0, 2, 1]], tets[:, [0, 1, 3]], tets[:, [1, 2, 3]],
                            tets[:, [0, 3, 2]]])
    owner = np.tile(np.arange(len(tets)), 4)
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True,
                                return_counts=True)
    outer = np.sort(first[count == 1])
    return faces[outer], owner[outer]


def visible_triangles(frame, cut):
    """Triangles, and the cell of each: the boundary of tetrahedra, and triangles."""
    body, proxy = (frame.cell_data.get(name, np.zeros(len(frame.types), dtype=int)) for name in ("body", "proxy"))
    # bodies are drawn by their collision proxies where they have one
    drawn_by_proxy = np.unique(body[proxy > 0])
    cell, tets = frame.cells(frames.TETRAHEDRON)
    kept = (frame.points[tets].mean(axis=1)[:, 2] <= cut) & ~np.isin(body[cell], drawn_by_proxy)
    faces, owner = boundary(tets[kept])
    sheet_cell, sheets = frame.cells(frames.TRIANGLE)
    return np.concatenate([faces, sheets]), np.concatenate([cell[kept][owner], sheet_cell])


# Corners of an octahedron, and its faces; a segment is stretched between two opposite corners.
OCTAHEDRON = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]], dtype=float)
OCTAHEDRON_FACES = np.array([[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]])
PRISM_FACES = np.array([[k, (k + 1) % 6, 6 + (k + 1) % 6] for k in range(6)] +
                       [[k, 6 + (k + 1) % 6, 6 + k] for k in range(6)])
# Half the width of segments and points over the size of the picture: frames do not know radii.
LINE_WIDTH = 0.004


def thicken(frame):
    """Bars in place of segments, octahedra in place of single points: corners, triangles, and for each triangle its
    cell and three vertices of that."""
    line_cell, lines = frame.cells(frames.LINE)
    point_cell, points = frame.cells(frames.VERTEX)
    width = LINE_WIDTH * np.linalg.norm(frame.points.max(axis=0) - frame.points.min(axis=0))
    corners = frame.points[points[:, 0], None] + 2.0 * width * OCTAHEDRON
    faces = 6 * np.arange(len(points))[:, None, None] + OCTAHEDRON_FACES

    # two directions across each segment
    begin, end = frame.points[lines[:, 0]], frame.points[lines[:, 1]]
    along = (end - begin) / np.maximum(np.linalg.norm(end - begin, axis=1, keepdims=True), 1e-300)
    helper = np.eye(3)[np.argmin(np.abs(along), axis=1)]
    across = np.cross(along, helper)
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
    other = np.cross(along, across)
    angle = np.arange(6) * np.pi / 3.0
    ring = width * (np.cos(angle)[:, None] * across[:, None] + np.sin(angle)[:, None] * other[:, None])
    bars = np.concatenate([begin[:, None] + ring, end[:, None] + ring], axis=1)
    bar_faces = 6 * len(points) + 12 * np.arange(len(lines))[:, None, None] + PRISM_FACES
    return (np.concatenate([corners.reshape(-1, 3), bars.reshape(-1, 3)]),
            np.concatenate([faces.reshape(-1, 3), bar_faces.reshape(-1, 3)]),
            np.concatenate([np.repeat(point_cell, len(OCTAHEDRON_FACES)), np.repeat(line_cell, len(PRISM_FACES))]),
            np.concatenate([np.repeat(points[:, [0, 0, 0]], len(OCTAHEDRON_FACES), axis=0),
                            np.repeat(lines[:, [0, 1, 1]], len(PRISM_FACES), axis=0)]))


def field_values(frame, name, triangles, cells):
    """The field on each triangle; of vectors the length, of values at points their mean."""
    known = {**frame.point_data, **frame.cell_data}
    if name not in known:
        raise BadRun(f'--field {name}: the frame has no such field; it has: {", ".join(sorted(known))}')
    values = np.asarray(known[name], dtype=float)
    if values.ndim > 1:
        values = np.linalg.norm(values, axis=1)
    return values[cells] if name in frame.cell_data else values[triangles].mean(axis=1)


class Surface:
    """What is drawn of a frame: triangles with a colour and an opacity each."""

    def __init__(self, frame, scene, opacity, arguments):
        triangles, cells = visible_triangles(frame, arguments.cut)
        corners, bars, bar_cells, bar_vertices = thicken(frame)
        vertices = np.concatenate([triangles, bar_vertices])
        triangles = np.concatenate([triangles, len(frame.points) + bars])
        cells = np.concatenate([cells, bar_cells])
        body = np.asarray(frame.cell_data["body"])[cells]
        names = scene.bodies + scene.obstacles
        by_body = np.array([opacity.get(names[b], OPAQUE) if b < len(names) else OPAQUE
                            for b in range(body.max(initial=0) + 1)])
        kept = by_body[body] > 0.0
        if not kept.any():
            raise BadRun("nothing is left to draw")
        self.points = np.concatenate([frame.points, corners])
        self.triangles, self.body = triangles[kept], body[kept]
        self.opacity = by_body[self.body]
        # obstacles follow the bodies
        of_bodies = self.body < (len(scene.bodies) or len(by_body))
        self.colours, self.note = np.where(of_bodies[:, None], PALETTE[self.body % len(PALETTE)], OBSTACLE_COLOUR), ""
        if arguments.field:
            values = field_values(frame, arguments.field, vertices[kept], cells[kept])
            self.colours = heat(values)
            self.note = f", {arguments.field} {values.min():.3g} to {values.max():.3g}"


# ---- how it is drawn -------------------------------------------------------------------------------

def heat(values):
    """Dark blue, teal, yellow: brightness grows with the value."""
    top = np.percentile(values, 99) or 1.0
    t = np.clip(values / top, 0, 1)[:, None]
    stops = np.array([[0.15, 0.20, 0.50], [0.15, 0.62, 0.62], [0.98, 0.90, 0.30]])
    return np.where(t < 0.5, stops[0] + 2 * t * (stops[1] - stops[0]),
                    stops[1] + (2 * t - 1) * (stops[2] - stops[1]))


def vertex_normals(points, triangles, bodies):
    """Smooth where the surface is smooth: corners of sharp edges keep the normal of their face."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    weighted = np.cross(b - a, c - a)
    sums = np.zeros_like(points)
    for k in range(3):
        np.add.at(sums, triangles[:, k], weighted)
    sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-300)
    faces = weighted / np.maximum(np.linalg.norm(weighted, axis=1, keepdims=True), 1e-300)
    corners = sums[triangles]
    sharp = np.einsum("tkd,td->tk", corners, faces) < 0.8
    return np.where(sharp[..., None], faces[:, None, :], corners)


class Camera:
    def __init__(self, points, view, width, height):
        self.width, self.height = width, height
        azimuth, elevation = np.radians(view)
        self.forward = -np.array([np.cos(elevation) * np.sin(azimuth), np.sin(elevation),
                                  np.cos(elevation) * np.cos(azimuth)])
        self.right = np.array([np.cos(azimuth), 0.0, -np.sin(azimuth)])
        self.up = np.cross(self.right, self.forward)
        low, high = points.min(axis=0), points.max(axis=0)
        self.centre, self.radius = (low + high) / 2, np.linalg.norm(high - low) / 2
        self.distance = 4.5 * self.radius
        self.eye = self.centre - self.distance * self.forward

        # drawn objects fill the picture
        self.scale, self.middle = 1.0, np.zeros(2)
        pixels, _ = self.project(points)
        low, high = pixels.min(axis=0), pixels.max(axis=0)
        self.scale = FILLED * np.min(np.array([width, height]) / np.maximum(high - low, 1e-300))
        self.middle = (np.array([width, height]) - self.scale * (low + high)) / 2

    def project(self, points):
        """Pixel coordinates and depth."""
        seen = points - self.eye
        depth = seen @ self.forward
        plane = np.stack([seen @ self.right, -(seen @ self.up)], axis=-1)
        return self.middle + self.scale * plane / depth[..., None], depth

    def rays(self, width, height):
        x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
        return (self.forward + ((x - self.middle[0]) / self.scale)[..., None] * self.right
                - ((y - self.middle[1]) / self.scale)[..., None] * self.up)


def rasterize(pixels, depth, normals, colours, picture, buffer):
    """Triangles in front of what the depth buffer holds."""
    height, width = buffer.shape
    for t in range(len(pixels)):
        (x0, y0), (x1, y1), (x2, y2) = pixels[t]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        left, right = max(int(min(x0, x1, x2)), 0), min(int(max(x0, x1, x2)) + 2, width)
        top, bottom = max(int(min(y0, y1, y2)), 0), min(int(max(y0, y1, y2)) + 2, height)
        if area == 0.0 or left >= right or top >= bottom:
            continue
        x, y = np.meshgrid(np.arange(left, right) + 0.5, np.arange(top, bottom) + 0.5)
        w1 = ((x - x0) * (y2 - y0) - (x2 - x0) * (y - y0)) / area
        w2 = ((x1 - x0) * (y - y0) - (x - x0) * (y1 - y0)) / area
        w0 = 1.0 - w1 - w2
        z = 1.0 / (w0 / depth[t, 0] + w1 / depth[t, 1] + w2 / depth[t, 2])
        tile = buffer[top:bottom, left:right]
        inside = (w0 >= 0) & (w1 >= 0) & (w2 >= 0) & (z < tile)
        if not inside.any():
            continue
        tile[inside] = z[inside]
        normal = (w0[inside, None] * normals[t, 0] + w1[inside, None] * normals[t, 1]
                  + w2[inside, None] * normals[t, 2])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        # light from above, a little from everywhere; thin sheets are lit on both sides
        shade = 0.35 + 0.65 * np.maximum(normal @ LIGHT, 0.0) + 0.1 * np.maximum(-normal @ LIGHT, 0)
        picture[top:bottom, left:right][inside] = np.minimum(colours[t] * shade[:, None], 1.0)


def blur(image, radius):
    for axis in (0, 1):
        sums = np.cumsum(np.pad(image, [(radius + 1, radius) if a == axis else (0, 0)
                                        for a in (0, 1)], mode="edge"), axis=axis)
        n = 2 * radius + 1
        image = (np.take(sums, range(n, sums.shape[axis]), axis) -
                 np.take(sums, range(0, sums.shape[axis] - n), axis)) / n
    return image


def shadow_map(triangles, resolution=400):
    """How dark a plane is: the shapes flattened along the light, in pixels of the map, blurred."""
    dark = np.zeros((resolution, resolution, 3))
    depth = np.full((resolution, resolution), np.inf)
    n = len(triangles)
    rasterize(triangles, np.ones((n, 3)), np.tile([0.0, 1.0, 0.0], (n, 3, 1)), np.ones((n, 3)), dark, depth)
    return blur(blur(np.isfinite(depth).astype(float), 4), 4)


def shadow_on(wall, camera, surface, place):
    """How dark the places on a wall are."""
    towards = LIGHT @ wall.normal
    if towards <= 0.0:
        return np.zeros(place.shape[:2])
    across = np.cross(wall.normal, [1.0, 0.0, 0.0] if abs(wall.normal[0]) < 0.9 else [0.0, 0.0, 1.0])
    axes = np.stack([across, np.cross(wall.normal, across)], axis=1)

    # a square of the wall, three radii around the middle of the picture
    height = (surface.points - wall.origin) @ wall.normal
    flat = (surface.points - height[:, None] / towards * LIGHT) @ axes
    low = camera.centre @ axes - 3.0 * camera.radius
    dark = shadow_map((flat[surface.triangles[surface.opacity >= OPAQUE]] - low) / (6.0 * camera.radius) * 400)
    index = ((place @ axes - low) / (6.0 * camera.radius) * (len(dark) - 1)).round()
    inside = (index >= 0).all(axis=-1) & (index < len(dark)).all(axis=-1)
    index = np.where(inside[..., None], index, 0).astype(int)
    return np.where(inside, dark[index[..., 1], index[..., 0]], 0.0)


def draw_half_spaces(walls, opacity, camera, surface, picture):
    """The nearest wall that faces the camera; it fades with the distance from drawn objects."""
    rays = camera.rays(*picture.shape[1::-1])
    nearest = np.full(picture.shape[:2], np.inf)
    background = picture.copy()
    for wall in walls:
        if wall.normal @ (camera.eye - wall.origin) <= 0.0 or opacity.get(wall.name, OPAQUE) == HIDDEN:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            along = ((wall.origin - camera.eye) @ wall.normal) / (rays @ wall.normal)
        hit = np.isfinite(along) & (along > 0) & (along < nearest)
        nearest[hit] = along[hit]
        place = camera.eye + np.where(hit, along, 0.0)[..., None] * rays
        fade = np.exp(-(np.linalg.norm(place - camera.centre, axis=-1) / (3.0 * camera.radius)) ** 2)

        # lit like the bodies, a floor as bright as its colour
        lit = (0.4 + 0.6 * max(wall.normal @ LIGHT, 0.0)) / (0.4 + 0.6 * LIGHT[1])
        shade = 1.0 - 0.45 * shadow_on(wall, camera, surface, place)
        mix = (opacity.get(wall.name, OPAQUE) * fade)[..., None]
        colour = background * (1 - mix) + min(lit, 1.1) * FLOOR_COLOUR * shade[..., None] * mix
        picture[hit] = colour[hit]


def draw_surface(surface, camera, picture):
    """Opaque triangles, then every transparent body as one sheet, the farthest first in each pixel."""
    pixels, depth = camera.project(surface.points)
    normals = vertex_normals(surface.points, surface.triangles, surface.body)

    def draw(chosen, into, buffer):
        corners = surface.triangles[chosen]
        rasterize(pixels[corners], depth[corners], normals[chosen], surface.colours[chosen], into, buffer)

    front = np.full(picture.shape[:2], np.inf)
    draw(surface.opacity >= OPAQUE, picture, front)
    sheets = []
    for body in np.unique(surface.body[surface.opacity < OPAQUE]):
        chosen = surface.body == body
        sheet, buffer = np.zeros_like(picture), np.full(picture.shape[:2], np.inf)
        draw(chosen, sheet, buffer)
        sheets.append((buffer, sheet, surface.opacity[chosen][0]))
    if not sheets:
        return
    order = np.argsort([-buffer for buffer, _, _ in sheets], axis=0)
    for rank in range(len(sheets)):
        for k, (buffer, sheet, alpha) in enumerate(sheets):
            here = (order[rank] == k) & (buffer < front)
            picture[here] = (1.0 - alpha) * picture[here] + alpha * sheet[here]


def drawn_points(surface):
    return surface.points[np.unique(surface.triangles)]


def draw(surface, walls, opacity, camera, size):
    picture = np.ones((camera.height, camera.width, 3)) * np.linspace(1.0, 0.93, camera.height)[:, None, None]
    draw_half_spaces(walls, opacity, camera, surface, picture)
    draw_surface(surface, camera, picture)
    return picture.reshape(size[1], SUPERSAMPLING, size[0], SUPERSAMPLING, 3).mean(axis=(1, 3))


def pixels_of(picture):
    return (np.clip(picture, 0, 1) ** (1 / 1.1) * 255 + 0.5).astype(np.uint8)


def filtered_rows(pixels):
    """The rows of a picture (height x width x 3 bytes) as a PNG file may store them: as they are, and as differences from the
    pixel to the left, the one above, their mean, and the one of the three that is nearest to left + above - corner."""
    left, above, corner = (np.zeros(pixels.shape, dtype=np.int16) for _ in range(3))
    left[:, 1:], above[1:], corner[1:, 1:] = pixels[:, :-1], pixels[:-1], pixels[:-1, :-1]
    guess = left + above - corner
    to_left, to_above, to_corner = abs(guess - left), abs(guess - above), abs(guess - corner)
    nearest = np.where((to_left <= to_above) & (to_left <= to_corner), left, np.where(to_above <= to_corner, above, corner))
    rows = []
    for kind, expected in enumerate((0, left, above, (left + above) // 2, nearest)):
        differences = (pixels - expected).astype(np.uint8).reshape(len(pixels), -1)
        rows.append(np.hstack([np.full((len(pixels), 1), kind, dtype=np.uint8), differences]))
    return rows


def smallest_image(pixels):
    """The compressed rows: of one kind, or in each row of the kind with the smallest differences."""
    rows = filtered_rows(pixels)
    sizes = [abs(kind[:, 1:].view(np.int8).astype(np.int32)).sum(axis=1) for kind in rows]
    mixed = np.choose(np.argmin(sizes, axis=0)[:, None], rows)
    return min((zlib.compress(kind.tobytes(), 9) for kind in [*rows, mixed]), key=len)


def write_png(path, pictures, delay=0.0):
    """One picture, or a moving one: after the first picture, only the rectangles that change; `delay` in seconds."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    shown = [pixels_of(picture) for picture in pictures]
    height, width = shown[0].shape[:2]
    parts, number = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))], 0
    if len(shown) > 1:
        parts.append(chunk(b"acTL", struct.pack(">II", len(shown), 0)))
    for k, pixels in enumerate(shown):
        top, left, bottom, right = 0, 0, height, width
        if k > 0:
            rows, columns = np.nonzero((pixels != shown[k - 1]).any(axis=2))
            if rows.size:
                top, left, bottom, right = rows.min(), columns.min(), rows.max() + 1, columns.max() + 1
            else:
                bottom = right = 1
        if len(shown) > 1:
            # the last picture stays for a second
            wait = round(1000 * (delay if k < len(shown) - 1 else 1))
            parts.append(chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, right - left, bottom - top, left, top, wait, 1000, 0, 0)))
            number += 1
        data = smallest_image(pixels[top:bottom, left:right])
        if k == 0:
            parts.append(chunk(b"IDAT", data))
        else:
            parts.append(chunk(b"fdAT", struct.pack(">I", number) + data))
            number += 1
    with open(path, "wb") as file:
        file.write(b"".join(parts) + chunk(b"IEND", b""))


# ---- the command -----------------------------------------------------------------------------------

class Parser(argparse.ArgumentParser):
    """One line for an error, with the status of bad input."""

    def error(self, message):
        raise BadRun(message)


def picture_size(text):
    words = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    if not words or not all(16 <= int(word) <= 8192 for word in words.groups()):
        raise argparse.ArgumentTypeError(f"want WIDTHxHEIGHT in pixels, 16 to 8192 each, got {text!r}")
    return int(words[1]), int(words[2])


def view_angles(text):
    try:
        azimuth, elevation = (float(word) for word in text.split(","))
    except ValueError:
        azimuth = elevation = np.inf
    if not (abs(azimuth) <= 360.0 and abs(elevation) <= 90.0):
        raise argparse.ArgumentTypeError("want AZIMUTH,ELEVATION in degrees, the elevation from -90 to 90, "
                                         f"got {text!r}")
    return azimuth, elevation


def finite_number(text):
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise argparse.ArgumentTypeError(f"want a number, got {text!r}")
    return number


def read_arguments():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", metavar="DIR|FRAME.vtu", help="directory of a run, or one of its frames")
    parser.add_argument("picture", metavar="OUT.png")
    parser.add_argument("--frame", type=int, default=-1, help="counts in frames.pvd; -1 is the last one")
    parser.add_argument("--every", type=int, metavar="N", help="a moving picture of every N-th frame, up to --frame")
    parser.add_argument("--size", type=picture_size, default="960x640", metavar="WIDTHxHEIGHT")
    parser.add_argument("--view", type=view_angles, default="30,18", metavar="AZIMUTH,ELEVATION",
                        help="from where, in degrees; 0,0 looks along -z (write --view=-30,10)")
    parser.add_argument("--field", help="colour by a field of the frame: von_mises, velocity, contact_force ...")
    parser.add_argument("--hide", action="append", default=[], metavar="NAME",
                        help="leave out a body, an obstacle or a half-space; may be repeated")
    parser.add_argument("--transparent", action="append", default=[], metavar="NAME[=ALPHA]",
                        help=f"draw it transparent (ALPHA {GLASS} unless given); may be repeated")
    parser.add_argument("--bodies", action="store_true", help="leave out all obstacles")
    parser.add_argument("--cut", type=finite_number, default=np.inf, metavar="Z",
                        help="leave out tetrahedra in front of z = Z")
    parser.add_argument("--floor", type=finite_number, metavar="Y", help="a floor at y = Y instead of the half-spaces")
    arguments = parser.parse_args()
    ending = os.path.splitext(arguments.picture)[1]
    if ending.lower() != ".png":
        raise BadRun(f"{arguments.picture}: pictures are written as .png, not as \"{ending}\"")
    return arguments


def frames_to_draw(arguments):
    """The paths of the frames, and the directory of the run."""
    path, directory = find_frame(arguments.result, arguments.frame)
    if arguments.every is None:
        return [path], directory
    if arguments.every < 1 or not os.path.isdir(arguments.result):
        raise BadRun("--every needs a number of frames, at least 1, and the directory of a run")
    paths = frames.list_frames(directory)
    return paths[:paths.index(path) + 1:arguments.every], directory


def run():
    arguments = read_arguments()
    paths, directory = frames_to_draw(arguments)
    scene, read = Scene(frames.read_scene(directory)), [frames.read_frame(path) for path in paths]
    opacity = choose_opacity(scene, arguments)
    walls = scene.half_spaces
    if arguments.floor is not None:
        walls = [HalfSpace("", [0, arguments.floor, 0], [0, 1, 0])]
    surfaces = [Surface(frame, scene, opacity, arguments) for frame in read]
    camera = Camera(np.concatenate([drawn_points(surface) for surface in surfaces]), arguments.view,
                    *(SUPERSAMPLING * n for n in arguments.size))
    pictures = [draw(surface, walls, opacity, camera, arguments.size) for surface in surfaces]
    delay = (read[-1].time - read[0].time) / max(len(read) - 1, 1)
    try:
        write_png(arguments.picture, pictures, delay)
    except OSError as error:
        raise BadRun(f"{arguments.picture}: cannot be written: {error.strerror}", 4) from None
    moving = f", {len(read)} frames" if arguments.every is not None else ""
    print(f"{arguments.picture}: t = {read[-1].time:g} s, {len(surfaces[-1].triangles)} triangles{moving}{surfaces[-1].note}")


def main():
    try:
        run()
    except BadRun as error:
        print(f"render.py: {error}", file=sys.stderr)
        return error.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
