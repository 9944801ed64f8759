#!/usr/bin/env python3
"""Reads results that `noli convert` has written for other programs, strictly by the rules of their formats, and
compares positions, normals, names and colours. tests/exchange/test_exchange.c shows that point caches have the positions of
the frames; here they are what the other formats are compared with.

usage: test_exchange.py NOLI     in a folder for files. Exit status 77: skipped.
"""
import json
import os
import re
import struct
import subprocess
import sys

try:
    import numpy as np
except ImportError as error:
    print(f"SKIPPED: {error} (install python3-numpy)")
    sys.exit(77)

FOLDER = "exchange_files"
UP = {"y": [0, -9.81, 0], "z": [0, 0, -9.81], "-y": [0, 9.81, 0], "-z": [0, 0, 9.81], "x": [-9.81, 0, 0], "-x": [9.81, 0, 0]}
AXES = {"y": [0, 1, 0], "z": [0, 0, 1], "-y": [0, -1, 0], "-z": [0, 0, -1], "x": [1, 0, 0], "-x": [-1, 0, 0]}
PLANE = {"plane": {"size": [1, 1], "cells": [1, 1]}}
EVERY, STEP = 2, 0.01


def scene(up):
    return {
        "name": "mix \"of\" all \\ kinds", "time": {"step": STEP, "steps": 7}, "gravity": UP[up],
        "bodies": [
            {"name": "soft box", "mesh": {"box": {"size": [1, 1, 1], "cells": [2, 2, 2]}}, "angular_velocity": [0, 90, 30]},
            {"name": "2nd \"é\"", "order": 2, "mesh": {"box": {"size": [1, 1, 1], "cells": [1, 1, 1]}}, "translate": [3, 0, 0]},
            {"name": "cloth", "shell": {"thickness": 0.001}, "mesh": {"plane": {"size": [1, 1], "cells": [3, 3]}},
             "translate": [6, 0, 0]},
            {"name": "rod", "rod": {"radius": 0.01},
             "mesh": {"arrays": {"positions": [[0, 0, 0], [0.5, 0, 0], [1, 0.5, 0]], "segments": [[0, 1], [1, 2]]}},
             "translate": [17, 0, 0]}],
        "obstacles": [
            {"name": "plate", "mesh": PLANE, "translate": [9, 1, 0]},
            {"name": "wire", "as": "edges", "mesh": PLANE, "translate": [12, 1, 0]},
            {"name": "dots", "as": "points", "mesh": PLANE, "translate": [15, 1, 0]}],
        "output": {"every": EVERY}}


def call(*words):
    result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    assert result.returncode == 0, f"{' '.join(words)}: {result.stdout}"
    return result.stdout


def same(got, want, tolerance, what):
    got, want = np.asarray(got, dtype=np.float64), np.asarray(want, dtype=np.float64)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    assert got.size > 0, f"{what}: empty"
    worst = np.abs(got - want).max()
    assert worst <= tolerance, f"{what}: off by {worst}, tolerance {tolerance}"


def linear(srgb):
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in srgb]


def normals_of(x, faces):
    """Unit normals of vertices, triangle by triangle and corner by corner."""
    normal = np.zeros_like(x)
    for face in faces:
        for k in range(3):
            a, b = x[face[(k + 1) % 3]] - x[face[k]], x[face[(k + 2) % 3]] - x[face[k]]
            angle = np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1))
            cross = np.cross(a, b)
            normal[face[k]] += angle * cross / np.linalg.norm(cross)
    return normal / np.linalg.norm(normal, axis=1)[:, None]


# ---- point caches and OBJ --------------------------------------------------------------------------

def read_obj(path):
    """Objects by name: vertices, normals, faces, lines and points, with numbers from the first vertex of the object."""
    objects, n, own = {}, 0, None
    for line in open(path, encoding="utf-8"):
        word, *rest = line.split() or [""]
        if word == "o":
            n += len(own["v"]) if own else 0
            own = objects[rest[0]] = {"v": [], "vn": [], "f": [], "l": [], "p": [], "usemtl": None}
        elif word in ("v", "vn"):
            own[word].append([np.float32(c) for c in rest])
        elif word == "f":
            assert all(c.split("//")[0] == c.split("//")[1] for c in rest), line
            own[word].append([int(c.split("//")[0]) - 1 - n for c in rest])
        elif word in ("l", "p"):
            own[word].append([int(c) - 1 - n for c in rest])
        elif word == "usemtl":
            own[word] = rest[0]
    return objects


def read_materials(path):
    text = open(path, encoding="utf-8").read()
    return {name: [float(c) for c in colour.split()] for name, colour in re.findall(r"newmtl (\S+)\nKd (.*)\n", text)}


def read_pc2(path):
    data = open(path, "rb").read()
    signature, version, n, start, rate, frames = struct.unpack("<12siiffi", data[:32])
    assert signature == b"POINTCACHE2\0" and version == 1 and start == 0 and rate == 1
    assert len(data) == 32 + 12 * n * frames
    return np.frombuffer(data, "<f4", offset=32).reshape(frames, n, 3)


def read_bodies(folder):
    """What all other formats must have: by identifier, in the order of the scene."""
    materials = read_materials(f"{folder}/a.mtl")
    bodies = {}
    for name in materials:
        meshes = read_obj(f"{folder}/a_{name}.obj")
        assert list(meshes) == [name] and meshes[name]["usemtl"] == name
        bodies[name] = dict(meshes[name], x=read_pc2(f"{folder}/a_{name}.pc2"), colour=materials[name])
        same(meshes[name]["v"], bodies[name]["x"][0], 0, f"{name}: first frame")
    return bodies


def check_normals(got, body, frame, what):
    if body["f"]:
        x = body["x"][frame].astype(np.float64)
        # positions are rounded to single precision, which turns short edges
        edges = [np.linalg.norm(x[face[k]] - x[face[k - 1]]) for face in body["f"] for k in range(len(face))]
        rounding = np.finfo(np.float32).eps * np.abs(x).max() / min(edges)
        same(got, normals_of(x, body["f"]), max(2e-6, 2 * rounding), what)


def check_obj(folder, bodies, times):
    for frame in range(len(times)):
        objects = read_obj(f"{folder}/s_{frame:04d}.obj")
        assert list(objects) == list(bodies)
        for name, body in bodies.items():
            same(objects[name]["v"], body["x"][frame], 0, f"{name}: OBJ frame {frame}")
            check_normals(objects[name]["vn"], body, frame, f"{name}: OBJ normals")
            assert all(objects[name][kind] == body[kind] for kind in "flp")
    assert not os.path.exists(f"{folder}/s_{len(times):04d}.obj")


def check_ply(folder, bodies, times):
    record = np.dtype([("x", "<f4", 3), ("n", "<f4", 3), ("colour", "u1", 3), ("body", "<i4")])
    for frame in range(len(times)):
        head, data = open(f"{folder}/s_{frame:04d}.ply", "rb").read().split(b"end_header\n", 1)
        n, n_faces, n_edges = (int(re.search(rf"element {name} (\d+)", head.decode())[1]) for name in ("vertex", "face", "edge"))
        assert len(data) == n * record.itemsize + 13 * n_faces + 8 * n_edges
        vertices = np.frombuffer(data, record, n)
        faces = np.frombuffer(data, np.dtype([("n", "u1"), ("v", "<i4", 3)]), n_faces, n * record.itemsize)
        edges = np.frombuffer(data, "<i4", 2 * n_edges, n * record.itemsize + 13 * n_faces).reshape(-1, 2)
        assert (faces["n"] == 3).all()
        first, want_faces, want_edges = 0, [], []
        for number, body in enumerate(bodies.values()):
            own = vertices[first:first + len(body["v"])]
            assert (own["body"] == number).all()
            same(own["x"], body["x"][frame], 0, f"PLY frame {frame}")
            same(own["colour"], np.tile(np.round(np.array(body["colour"]) * 255), (len(own), 1)), 0, "PLY colour")
            check_normals(own["n"], body, frame, "PLY normals")
            want_faces += [[first + c for c in face] for face in body["f"]]
            want_edges += [[first + c for c in edge] for edge in body["l"]]
            first += len(own)
        assert first == n and faces["v"].tolist() == want_faces and edges.tolist() == want_edges


# ---- GLB -------------------------------------------------------------------------------------------

def read_glb(path):
    """The description, and the array of every accessor, after all checks of sizes, alignment and bounds."""
    data = open(path, "rb").read()
    magic, version, length, json_size, json_type = struct.unpack("<4sIII4s", data[:20])
    assert magic == b"glTF" and version == 2 and length == len(data) and json_type == b"JSON" and json_size % 4 == 0
    gltf = json.loads(data[20:20 + json_size].decode("utf-8"))
    size, kind = struct.unpack("<I4s", data[20 + json_size:28 + json_size])
    binary = data[28 + json_size:]
    assert kind == b"BIN\0" and size == len(binary) == gltf["buffers"][0]["byteLength"] and size % 4 == 0
    assert gltf["asset"]["version"] == "2.0" and len(gltf["buffers"]) == 1
    end = 0
    for view in gltf["bufferViews"]:
        assert view["buffer"] == 0 and view["byteOffset"] == end and view["byteLength"] > 0
        end += view["byteLength"]
    assert end == size
    arrays, used = [], [0] * len(gltf["bufferViews"])
    for accessor in gltf["accessors"]:
        view = gltf["bufferViews"][accessor["bufferView"]]
        n = {"SCALAR": 1, "VEC3": 3}[accessor["type"]]
        dtype = {5125: "<u4", 5126: "<f4"}[accessor["componentType"]]
        assert accessor["byteOffset"] % 4 == 0 and accessor["byteOffset"] == used[accessor["bufferView"]]
        assert view.get("byteStride", 4 * n) == 4 * n and ("byteStride" in view) == (view.get("target") == 34962)
        used[accessor["bufferView"]] += 4 * n * accessor["count"]
        array = np.frombuffer(binary, dtype, n * accessor["count"], view["byteOffset"] + accessor["byteOffset"]).reshape(-1, n)
        if "min" in accessor:
            same(accessor["min"], array.min(axis=0), 0, "min")
            same(accessor["max"], array.max(axis=0), 0, "max")
        arrays.append(array)
    assert used == [view["byteLength"] for view in gltf["bufferViews"]]
    return gltf, arrays


def rotate(quaternion, v):
    q, w = np.array(quaternion[:3]), quaternion[3]
    assert abs(q @ q + w * w - 1) < 1e-12
    return v + 2 * np.cross(q, np.cross(q, v) + w * v)


def check_primitive(gltf, arrays, primitive, body, weights):
    attributes, targets = primitive["attributes"], primitive.get("targets", [])
    kind, corners = {4: ("f", 3), 1: ("l", 2), 0: ("p", 1)}[primitive["mode"]]
    assert arrays[primitive["indices"]].reshape(-1, corners).tolist() == body[kind]
    assert gltf["bufferViews"][gltf["accessors"][primitive["indices"]]["bufferView"]]["target"] == 34963
    assert all("min" in gltf["accessors"][a["POSITION"]] for a in [attributes] + targets)
    assert ("NORMAL" in attributes) == (kind == "f") and all(set(target) == set(attributes) for target in targets)
    moves = bool((body["x"] != body["x"][0]).any())
    assert len(targets) == (len(body["x"]) - 1 if moves else 0)
    for frame in range(len(body["x"]) if moves else 1):
        shown = {name: arrays[accessor].astype(np.float64) for name, accessor in attributes.items()}
        for target, weight in zip(targets, weights[frame] if moves else []):
            for name, accessor in target.items():
                shown[name] = shown[name] + float(weight) * arrays[accessor]
        same(shown["POSITION"], body["x"][frame], 2e-6, f"GLB frame {frame}")
        if "NORMAL" in shown:
            check_normals(shown["NORMAL"], body, frame, f"GLB normals of frame {frame}")


def check_glb(path, bodies, names, times, up, title):
    gltf, arrays = read_glb(path)
    root = gltf["nodes"][gltf["scenes"][gltf["scene"]]["nodes"][0]]
    assert root["name"] == title
    same(rotate(root.get("rotation", [0, 0, 0, 1]), np.array(AXES[up], dtype=float)), [0, 1, 0], 1e-15, "way up")
    nodes = [gltf["nodes"][child] for child in root["children"]]
    assert [node["name"] for node in nodes] == names
    sampler = gltf["animations"][0]["samplers"][0]
    assert sampler["interpolation"] == "LINEAR" and "min" in gltf["accessors"][sampler["input"]]
    same(arrays[sampler["input"]][:, 0], np.float32(times), 0, "GLB times")
    weights = arrays[sampler["output"]].reshape(len(times), len(times) - 1)
    driven = {channel["target"]["node"] for channel in gltf["animations"][0]["channels"]}
    for (child, node), body in zip(zip(root["children"], nodes), bodies.values()):
        mesh = gltf["meshes"][node["mesh"]]
        assert (child in driven) == bool((body["x"] != body["x"][0]).any())
        assert [p["mode"] for p in mesh["primitives"]] == [m for m, kind in ((4, "f"), (1, "l"), (0, "p")) if body[kind]]
        for primitive in mesh["primitives"]:
            check_primitive(gltf, arrays, primitive, body, weights)
            material = gltf["materials"][primitive["material"]]
            assert material["name"] == mesh["name"] == node["name"] and material["doubleSided"]
            same(material["pbrMetallicRoughness"]["baseColorFactor"], linear(body["colour"]) + [1], 1e-5, "GLB colour")


VALIDATE = """
let validator;
try { validator = require('gltf-validator'); } catch (error) { console.log('missing'); process.exit(0); }
validator.validateBytes(new Uint8Array(require('fs').readFileSync(process.argv[1]))).then(
  report => console.log(JSON.stringify(report.issues)));
"""


def validate_glb(path):
    """The validator of the Khronos Group, if `npm install gltf-validator` has put it where node looks."""
    try:
        answer = call("node", "-e", VALIDATE, path).strip()
    except FileNotFoundError:
        answer = "missing"
    if answer == "missing":
        return "the validator of glTF: skipped (npm install -g gltf-validator, NODE_PATH)"
    issues = json.loads(answer)
    assert issues["numErrors"] == issues["numWarnings"] == issues["numInfos"] == 0, answer
    return "the validator of glTF: no issues"


# ---- USDA ------------------------------------------------------------------------------------------

class Usda:
    """A parser for the part of the language that is used."""
    TOKEN = re.compile(r'\s*("(?:[^"\\\n]|\\.)*"|<[^>\s]*>|[-+]?(?:\d[\w.+-]*)|[A-Za-z_][\w:.]*(?:\[\])?|[(){}\[\]=,:])')

    def __init__(self, text):
        assert text.startswith("#usda 1.0\n")
        self.tokens, at = [], len("#usda 1.0\n")
        while text[at:].strip():
            match = self.TOKEN.match(text, at)
            assert match, f"no token at {text[at:at + 40]!r}"
            self.tokens.append(match[1])
            at = match.end()
        self.at = 0
        self.metadata = self.read_metadata()
        self.prims = {}
        while self.at < len(self.tokens):
            self.read_prim(self.prims)

    def next(self, want=None):
        token = self.tokens[self.at]
        assert want is None or token == want, f"{token} where {want} should be, behind {self.tokens[self.at - 8:self.at]}"
        self.at += 1
        return token

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def read_metadata(self):
        values = {}
        if self.peek() == "(":
            self.next("(")
            while self.peek() != ")":
                words = []
                while self.peek() != "=":
                    words.append(self.next())
                self.next("=")
                values[words[-1]] = self.read_value()
            self.next(")")
        return values

    def read_value(self):
        token = self.next()
        if token in "[(":
            values, end = [], {"[": "]", "(": ")"}[token]
            while self.peek() != end:
                values.append(self.read_value())
                if self.peek() != end:
                    self.next(",")
            self.next(end)
            return values
        if token == "{":
            values = {}
            while self.peek() != "}":
                first = self.next()
                if re.match(r"[-+\d]", first):
                    self.next(":")
                    values[float(first)] = self.read_value()
                    self.next(",")
                else:
                    name = self.next()
                    self.next("=")
                    values[name] = self.read_value()
            self.next("}")
            return values
        if token[0] == '"':
            return re.sub(r"\\(.)", r"\1", token[1:-1])
        return token if token[0] == "<" else float(token)

    def read_prim(self, prims):
        self.next("def")
        prim = {"type": self.next(), "prims": {}, "of": {}}
        name = self.read_value()
        assert re.fullmatch(r"[A-Za-z_]\w*", name) and name not in prims, name
        prims[name] = prim
        prim["metadata"] = self.read_metadata()
        self.next("{")
        while self.peek() != "}":
            if self.peek() == "def":
                self.read_prim(prim["prims"])
                continue
            type_name = self.next()
            type_name = self.next() if type_name == "uniform" else type_name
            key = self.next()
            if self.peek() == "=":
                self.next("=")
                prim["of"][key] = self.read_value()
            about = self.read_metadata()
            if about:
                prim["of"][key + " metadata"] = about
        self.next("}")


def samples(prim, name, n_codes):
    """Values of an attribute in all frames."""
    if name in prim["of"]:
        return [prim["of"][name]] * n_codes
    values = prim["of"][name + ".timeSamples"]
    assert len(values) == n_codes and list(values) == sorted(values)
    return list(values.values())


def check_geometry(prim, kind, body, n_codes, what):
    corners = [c for part in body[kind] for c in part]
    points = samples(prim, "points", n_codes)
    extents = samples(prim, "extent", n_codes)
    for frame in range(n_codes):
        want = body["x"][frame] if kind == "f" else body["x"][frame][corners]
        same(np.float32(points[frame]), want, 0, f"{what}: USDA frame {frame}")
        same(np.float32(extents[frame]), [want.min(axis=0), want.max(axis=0)], 0, f"{what}: extent")
    if kind == "f":
        assert prim["type"] == "Mesh" and prim["of"]["subdivisionScheme"] == "none" and prim["of"]["orientation"] == "rightHanded"
        assert prim["of"]["faceVertexCounts"] == [3] * len(body["f"]) and prim["of"]["faceVertexIndices"] == corners
        assert prim["of"]["normals metadata"] == {"interpolation": "vertex"}
        for frame, normals in enumerate(samples(prim, "normals", n_codes)):
            check_normals(normals, body, frame, f"{what}: USDA normals")
    elif kind == "l":
        assert prim["type"] == "BasisCurves" and prim["of"]["curveVertexCounts"] == [2] * len(body["l"])
        assert prim["of"]["type"] == "linear" and prim["of"]["widths"][0] > 0
    else:
        assert prim["type"] == "Points" and prim["of"]["widths"][0] > 0
    same(prim["of"]["primvars:displayColor"], [linear(body["colour"])], 1e-5, f"{what}: displayColor")


def check_usda(path, bodies, names, times, up, title):
    usda = Usda(open(path, encoding="utf-8").read())
    rate, world = usda.metadata["timeCodesPerSecond"], usda.prims["World"]
    assert usda.metadata["defaultPrim"] == "World" and usda.metadata["metersPerUnit"] == 1 and usda.metadata["doc"] == title
    assert usda.metadata["framesPerSecond"] == rate and usda.metadata["startTimeCode"] == 0
    same(usda.metadata["endTimeCode"] / rate, times[-1], 1e-12, "end")
    same(rate, 1 / (EVERY * STEP), 1e-9, "rate")
    turned = [(axis, world["of"].get("xformOp:rotate" + axis)) for axis in "XYZ" if "xformOp:rotate" + axis in world["of"]]
    axis, degrees = turned[0] if turned else ("X", 0.0)
    half = np.radians(degrees) / 2
    quaternion = [np.sin(half) * (axis == a) for a in "XYZ"] + [np.cos(half)]
    stage_up = {"Y": [0, 1, 0], "Z": [0, 0, 1]}[usda.metadata["upAxis"]]
    same(rotate(quaternion, np.array(AXES[up], dtype=float)), stage_up, 1e-12, "way up")
    assert not turned or world["of"]["xformOpOrder"] == ["xformOp:rotate" + axis]
    prims = world["prims"]["bodies"]["prims"]
    assert list(prims) == list(bodies) and [prim["metadata"]["displayName"] for prim in prims.values()] == names
    for (name, prim), body in zip(prims.items(), bodies.values()):
        kinds = [(part, kind) for part, kind in (("surface", "f"), ("segments", "l"), ("points", "p")) if body[kind]]
        assert list(prim["prims"]) == [part for part, _ in kinds]
        for part, kind in kinds:
            check_geometry(prim["prims"][part], kind, body, len(times), f"{name}/{part}")
            assert prim["prims"][part]["of"]["material:binding"] == f"</World/materials/{name}>"
        shader = world["prims"]["materials"]["prims"][name]["prims"]["shader"]["of"]
        assert shader["info:id"] == "UsdPreviewSurface"
        same(shader["inputs:diffuseColor"], linear(body["colour"]), 1e-5, f"{name}: diffuseColor")
        codes = [key for prim_ in prim["prims"].values() for key in prim_["of"].get("points.timeSamples", {})]
        if codes:
            same(np.array(codes[:len(times)]) / rate, times, 1e-12, f"{name}: times")


# ---- all -------------------------------------------------------------------------------------------

def main():
    noli = os.path.abspath(sys.argv[1])
    os.makedirs(FOLDER, exist_ok=True)
    times, said = [0.0, 0.02, 0.04, 0.06, 0.07], ""
    for up in UP:
        folder, made = f"{FOLDER}/{up}", scene(up)
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/scene.json", "w", encoding="utf-8") as file:
            json.dump(made, file)
        call(noli, "run", f"{folder}/scene.json", "-o", f"{folder}/run", "--quiet", "--force")
        for name in ("a.pc2", "s_%04d.obj", "s_%04d.ply", "a.glb", "a.usda"):
            assert f"{name}: {len(times)} frames" in call(noli, "convert", f"{folder}/run", f"{folder}/{name}")
        names = [entity["name"] for entity in made["bodies"] + made["obstacles"]]
        bodies = read_bodies(folder)
        assert len(bodies) == len(names) and bodies["soft_box"]["x"].shape == (5, 26, 3)
        if up == "y":
            check_obj(folder, bodies, times)
            check_ply(folder, bodies, times)
        check_glb(f"{folder}/a.glb", bodies, names, times, up, made["name"])
        check_usda(f"{folder}/a.usda", bodies, names, times, up, made["name"])
        said = validate_glb(f"{folder}/a.glb")
    print(said)
    print(f"{len(UP)} ways up, {len(bodies)} bodies, {len(times)} frames: all formats agree")


if __name__ == "__main__":
    main()
