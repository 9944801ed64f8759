#!/usr/bin/env python3
"""Renders a frame of a result to a PNG picture, without a display.

usage: render.py DIR|FRAME.vtu OUT.png [--frame N] [--size WIDTHxHEIGHT] [--view AZIMUTH,ELEVATION]
                 [--field von_mises] [--floor Y] [--bodies] [--cut Z]

DIR: a result directory; --frame counts in frames.pvd (default -1, the last one). Bodies are coloured
one by one, or by a field of their cells; --bodies leaves obstacles out, --cut tetrahedra in
front of z = Z. Needs python3-meshio (which brings NumPy) and nothing that draws: triangles go through
a depth buffer, with light from above and a soft shadow on the floor.
"""
import argparse
import os
import re
import struct
import sys
import zlib

try:
    import meshio
    import numpy as np
except ImportError as error:
    sys.exit(f"render.py: {error}: install python3-meshio")

PALETTE = np.array([[0.90, 0.45, 0.25], [0.25, 0.55, 0.85], [0.40, 0.72, 0.40], [0.85, 0.70, 0.25],
                    [0.62, 0.45, 0.80], [0.35, 0.72, 0.72], [0.85, 0.45, 0.62], [0.55, 0.55, 0.58]])
LIGHT = np.array([0.35, 0.85, 0.40])
SUPERSAMPLING = 2


def find_frame(path, frame):
    if not os.path.isdir(path):
        return path
    with open(os.path.join(path, "frames.pvd"), encoding="utf-8") as file:
        names = re.findall(r'file="([^"]+)"', file.read())
    if not names:
        sys.exit(f"render.py: {path}: there are no frames")
    return os.path.join(path, names[frame])


def boundary(tets):
    """Triangles that belong to one tetrahedron, outward, and the tetrahedron of each."""
    faces = np.concatenate([tets[:, [0, 2, 1]], tets[:, [0, 1, 3]], tets[:, [1, 2, 3]],
                            tets[:, [0, 3, 2]]])
    owner = np.tile(np.arange(len(tets)), 4)
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True,
                                return_counts=True)
    outer = np.sort(first[count == 1])
    return faces[outer], owner[outer]


def read(path, field, obstacles, cut):
    """Positions, triangles, body and value of each triangle."""
    mesh = meshio.read(path)
    triangles, bodies, values = [], [], []
    # bodies are drawn by their collision proxies where they have one
    proxies = mesh.cell_data.get("proxy", [np.zeros(len(block.data)) for block in mesh.cells])
    drawn = {b for i in range(len(mesh.cells))
             for b in np.asarray(mesh.cell_data["body"][i]).ravel()[np.asarray(proxies[i]).ravel() > 0]}
    for i, block in enumerate(mesh.cells):
        body = np.asarray(mesh.cell_data["body"][i]).ravel()
        value = np.asarray(mesh.cell_data[field][i]).ravel() if field else body
        if block.type == "tetra":
            kept = mesh.points[block.data].mean(axis=1)[:, 2] <= cut
            kept &= ~np.isin(body, list(drawn))
            faces, owner = boundary(block.data[kept])
            body, value = body[kept], value[kept]
            triangles, bodies, values = (triangles + [faces], bodies + [body[owner]],
                                         values + [value[owner]])
        elif block.type == "triangle":
            kept = np.asarray(proxies[i]).ravel() > 0 if not obstacles else np.full(len(body), True)
            triangles, bodies, values = (triangles + [block.data[kept]], bodies + [body[kept]],
                                         values + [value[kept]])
    if not triangles:
        sys.exit(f"render.py: {path}: nothing to draw")
    return (mesh.points, np.concatenate(triangles), np.concatenate(bodies),
            np.concatenate(values).astype(float))


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
        azimuth, elevation = np.radians(view)
        self.forward = -np.array([np.cos(elevation) * np.sin(azimuth), np.sin(elevation),
                                  np.cos(elevation) * np.cos(azimuth)])
        self.right = np.cross(self.forward, [0.0, 1.0, 0.0])
        self.right /= np.linalg.norm(self.right)
        self.up = np.cross(self.right, self.forward)
        low, high = points.min(axis=0), points.max(axis=0)
        self.centre, radius = (low + high) / 2, np.linalg.norm(high - low) / 2
        self.distance = 4.5 * radius
        self.eye = self.centre - self.distance * self.forward
        self.scale = 0.5 * min(width, height) * self.distance / radius
        self.middle = np.array([width / 2, height / 2])

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
    light = LIGHT / np.linalg.norm(LIGHT)
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
        shade = 0.35 + 0.65 * np.maximum(normal @ light, 0.0) + 0.1 * np.maximum(-normal @ light, 0)
        picture[top:bottom, left:right][inside] = np.minimum(colours[t] * shade[:, None], 1.0)


def blur(image, radius):
    for axis in (0, 1):
        sums = np.cumsum(np.pad(image, [(radius + 1, radius) if a == axis else (0, 0)
                                        for a in (0, 1)], mode="edge"), axis=axis)
        n = 2 * radius + 1
        image = (np.take(sums, range(n, sums.shape[axis]), axis) -
                 np.take(sums, range(0, sums.shape[axis] - n), axis)) / n
    return image


def shadow_map(points, triangles, floor, low, high, resolution=400):
    """How dark the floor is: the shapes flattened along the light, blurred."""
    light = LIGHT / LIGHT[1]
    flat = points[:, [0, 2]] - (points[:, 1:2] - floor) * light[[0, 2]]
    pixels = (flat - low) / (high - low) * resolution
    dark = np.zeros((resolution, resolution, 3))
    depth = np.full((resolution, resolution), np.inf)
    n = len(triangles)
    rasterize(pixels[triangles], np.ones((n, 3)), np.tile([0.0, 1.0, 0.0], (n, 3, 1)),
              np.ones((n, 3)), dark, depth)
    return blur(blur(np.isfinite(depth).astype(float), 4), 4)


def draw_floor(camera, points, triangles, floor, picture):
    height, width = picture.shape[:2]
    rays = camera.rays(width, height)
    with np.errstate(divide="ignore", invalid="ignore"):
        along = (floor - camera.eye[1]) / rays[..., 1]
    hit = np.isfinite(along) & (along > 0)
    place = camera.eye + np.where(hit, along, 0.0)[..., None] * rays
    radius = camera.distance / 4.5
    fade = np.exp(-(np.linalg.norm(place - camera.centre, axis=-1) / (3.0 * radius)) ** 2)
    low, high = camera.centre[[0, 2]] - 3 * radius, camera.centre[[0, 2]] + 3 * radius
    dark = shadow_map(points, triangles, floor, low, high)
    index = ((place[..., [0, 2]] - low) / (high - low) * (len(dark) - 1)).round().astype(int)
    inside = hit & (index >= 0).all(axis=-1) & (index < len(dark)).all(axis=-1)
    index = np.clip(index, 0, len(dark) - 1)
    shade = np.where(inside, dark[index[..., 1], index[..., 0]], 0.0)
    colour = np.array([0.80, 0.82, 0.85]) * (1.0 - 0.45 * shade[..., None])
    mix = np.where(hit, fade, 0.0)[..., None]
    picture[:] = picture * (1 - mix) + colour * mix


def heat(values):
    """Dark blue, teal, yellow: brightness grows with the value."""
    top = np.percentile(values, 99) or 1.0
    t = np.clip(values / top, 0, 1)[:, None]
    stops = np.array([[0.15, 0.20, 0.50], [0.15, 0.62, 0.62], [0.98, 0.90, 0.30]])
    return np.where(t < 0.5, stops[0] + 2 * t * (stops[1] - stops[0]),
                    stops[1] + (2 * t - 1) * (stops[2] - stops[1]))


def write_png(path, picture):
    height, width = picture.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
    rows[:, 1:] = (np.clip(picture, 0, 1) ** (1 / 1.1) * 255 + 0.5).astype(np.uint8).reshape(height, -1)

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        file.write(chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)))
        file.write(chunk(b"IEND", b""))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("picture")
    parser.add_argument("--frame", type=int, default=-1)
    parser.add_argument("--size", default="960x640")
    parser.add_argument("--view", default="30,18")
    parser.add_argument("--field", default=None)
    parser.add_argument("--floor", type=float, default=None)
    parser.add_argument("--bodies", action="store_true")
    parser.add_argument("--cut", type=float, default=np.inf)
    arguments = parser.parse_args()
    width, height = (SUPERSAMPLING * int(n) for n in arguments.size.split("x"))
    view = [float(n) for n in arguments.view.split(",")]
    points, triangles, bodies, values = read(find_frame(arguments.result, arguments.frame),
                                             arguments.field, not arguments.bodies, arguments.cut)
    colours = heat(values) if arguments.field else PALETTE[bodies % len(PALETTE)]
    drawn = points[np.unique(triangles)]
    floor = arguments.floor if arguments.floor is not None else drawn[:, 1].min()
    camera = Camera(drawn, view, width, height)
    picture = np.ones((height, width, 3)) * np.linspace(1.0, 0.93, height)[:, None, None]
    draw_floor(camera, points, triangles, floor, picture)
    pixels, depth = camera.project(points)
    rasterize(pixels[triangles], depth[triangles], vertex_normals(points, triangles, bodies),
              colours, picture, np.full((height, width), np.inf))
    small = picture.reshape(height // SUPERSAMPLING, SUPERSAMPLING, width // SUPERSAMPLING,
                            SUPERSAMPLING, 3).mean(axis=(1, 3))
    write_png(arguments.picture, small)
    print(f"{arguments.picture}: {len(triangles)} triangles")


if __name__ == "__main__":
    main()
