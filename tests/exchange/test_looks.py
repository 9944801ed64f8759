"""Texture coordinates, materials and groups of OBJ files in results for other programs: through shells, seams, refined
and merged meshes, obstacles in copies, proxies, and solids that were filled from a surface.

usage: test_looks.py NOLI
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

NOLI = os.path.abspath(sys.argv[1])
# a strip of two squares with a seam between them: vertices 2 and 3 have two texture coordinates each; vertex 7 is unused
FLAG = """mtllib looks/flag.mtl
v 0 0 0
v 1 0 0
v 1 0 1
v 0 0 1
v 2 0 0
v 2 0 1
v 9 9 9
vt 0 0
vt 0.4 0
vt 0.4 1
vt 0 1
vt 0.6 0
vt 0.6 1
vt 1 0
vt 1 1
vn 0 1 0
g left
usemtl red cotton
f 4/4/1 3/3/1 2/2/1 1/1/1
g right
usemtl blue
f -5/-3 -2/-1 -3/-2 -6/-4
"""
LIBRARY = "newmtl red cotton\nKd 1 0 0\nmap_Kd -s 1 1 1 red.png\n\nnewmtl blue\nKd 0 0 1\n"


def noli(*arguments, status=0):
    done = subprocess.run([NOLI, *arguments], capture_output=True, text=True)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done.stderr


def read_obj(path):
    """{object: [(material, group, ((position, uv), ..) of each triangle)]}"""
    x, uv, objects, name, material, group = [], [], {}, None, None, None
    with open(path) as file:
        for line in file:
            key, _, rest = line.strip().partition(" ")
            if key == "v":
                x.append(tuple(map(float, rest.split())))
            elif key == "vt":
                uv.append(tuple(map(float, rest.split())))
            elif key == "o":
                name, material, group = rest, None, None
                objects[name] = []
            elif key == "usemtl":
                material = rest
            elif key == "g":
                group = rest
            elif key == "f":
                corners = [word.split("/") for word in rest.split()]
                objects[name].append((material, group, tuple(
                    (x[int(c[0]) - 1], uv[int(c[1]) - 1] if len(c) > 1 and c[1] else None) for c in corners)))
    return objects


def read_glb(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<I", data[12:16])[0]
    return json.loads(data[20:20 + size]), data[20 + size + 8:]


def array(glb, number):
    description, binary = glb
    accessor = description["accessors"][number]
    view = description["bufferViews"][accessor["bufferView"]]
    width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3}[accessor["type"]]
    assert view.get("byteStride", 4 * width) == 4 * width
    at = view["byteOffset"] + accessor["byteOffset"]
    kind = "I" if accessor["componentType"] == 5125 else "f"
    values = struct.unpack_from(f"<{width * accessor['count']}{kind}", binary, at)
    return values if width == 1 else [values[i:i + width] for i in range(0, len(values), width)]


def map_of(name, p):
    """The texture coordinate that a corner of the flag should have, by the side of the seam."""
    return (0.4 * p[0], p[2]) if name == "left" else (0.6 + 0.4 * (p[0] - 1), p[2])


def check_triangles(triangles, offset=(0, 0, 0), n=4):
    assert len(triangles) == n, len(triangles)
    for material, group, corners in triangles:
        assert (material, group) in (("red cotton", "left"), ("blue", "right")), (material, group)
        for p, uv in corners:
            want = map_of(group, [p[k] - offset[k] for k in range(3)])
            assert uv is not None and all(abs(a - b) < 1e-6 for a, b in zip(uv, want)), (p, uv, want)
    assert {t[1] for t in triangles} == {"left", "right"}


def write_tets(path, x, tets):
    """Legacy VTK."""
    with open(path, "w") as file:
        file.write("# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n")
        file.write(f"POINTS {len(x)} double\n" + "\n".join(" ".join(map(str, p)) for p in x))
        file.write(f"\nCELLS {len(tets)} {5 * len(tets)}\n" + "\n".join("4 " + " ".join(map(str, t)) for t in tets))
        file.write(f"\nCELL_TYPES {len(tets)}\n" + "10\n" * len(tets))


def write_inputs():
    os.mkdir("looks")
    for name, text in (("flag.obj", FLAG), ("looks/flag.mtl", LIBRARY),
                       # vertices of the seam are there twice, apart by less than the tolerance
                       ("twice.obj", FLAG.replace("v 9 9 9", "v 1 0 1e-7\nv 1 0 1.0000001")
                        .replace("f -5/-3 -2/-1 -3/-2 -6/-4", "f 8/6 6/8 5/7 7/5"))):
        with open(name, "w") as file:
            file.write(text)
    # a tetrahedron, and its surface with a material on one face, in another order of vertices
    write_tets("solid.vtk", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 1, 2, 3)])
    with open("surface.obj", "w") as file:
        file.write("v 0 0 1\nv 0 1 0\nv 1 0 0\nv 0 0 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
                   "o skin\nusemtl face\nf 3/1 2/2 1/3\nusemtl rest\nf 4 2 3\nf 4 1 2\nf 4 3 1\n")
    shell = {"thickness": 1e-3}
    still = {"gravity": [0, 0, 0], "time": {"step": 0.01, "steps": 1}}
    with open("scene.json", "w") as file:
        json.dump(still | {
            "bodies": [{"name": "flag", "mesh": "flag.obj", "shell": shell},
                       {"name": "fine", "mesh": "flag.obj", "shell": shell, "refine": 2, "translate": [0, 1, 0]},
                       {"name": "merged", "mesh": "twice.obj", "shell": shell, "merge": 1e-5, "translate": [0, 2, 0]},
                       {"name": "solid", "mesh": "solid.vtk", "appearance": "surface.obj", "translate": [0, 3, 0]},
                       {"name": "proxied", "mesh": "solid.vtk", "proxy": {"mesh": "surface.obj"},
                        "translate": [0, 5, 0]},
                       {"name": "plain", "mesh": {"plane": {}}, "shell": shell, "translate": [0, 9, 0]}],
            "obstacles": [{"name": "blue", "mesh": "flag.obj", "scale": 2,
                           "copies": {"count": 2, "translate": [0, -1, 0]}, "translate": [0, -1, 0]}]}, file)


def check_obj():
    noli("convert", "run", "x_%04d.obj")
    objects = read_obj("x_0000.obj")
    check_triangles(objects["flag"])
    check_triangles(objects["fine"], (0, 1, 0), 64)
    check_triangles(objects["merged"], (0, 2, 0))
    for name in ("solid", "proxied"):
        materials = sorted(material for material, _, _ in objects[name])
        assert materials == ["face", "rest", "rest", "rest"], (name, objects[name])
        assert all(group == "skin" for _, group, _ in objects[name])
        face = next(corners for material, _, corners in objects[name] if material == "face")
        x = {p[0]: uv for p, uv in face}
        assert x[1.0] == (0, 0), face
    for copy in ("blue_0_", "blue_1_"):
        assert {(m, g) for m, g, _ in objects[copy]} == {("red cotton", "left"), ("blue", "right")}
    assert [t[:2] + (t[2][0][1],) for t in objects["plain"]] == [("plain", None, None)] * 2, objects["plain"]
    with open("x.mtl") as file:
        library = file.read()
    assert library.count("newmtl red cotton\n") == 1 and "newmtl flag\n" not in library
    assert "newmtl plain\n" in library and "newmtl rest\n" in library
    red = library[library.index("newmtl red cotton"):].split("newmtl")[1]
    assert "Kd 1 0 0\n" in red and f"map_Kd {os.path.realpath('.')}/red.png\n" in red, red
    # again into a scene: what was written is read like the first file
    noli("convert", "run", "y.pc2")
    check_triangles(read_obj("y_flag.obj")["flag"])


def check_glb():
    noli("convert", "run", "x.glb")
    glb = read_glb("x.glb")
    description = glb[0]
    names = [material["name"] for material in description["materials"]]
    for mesh, offset, n in (("flag", (0, 0, 0), 4), ("fine", (0, 1, 0), 64), ("merged", (0, 2, 0), 4)):
        found = next(m for m in description["meshes"] if m["name"] == mesh)
        triangles = []
        for primitive in found["primitives"]:
            attributes = primitive["attributes"]
            x, uv = array(glb, attributes["POSITION"]), array(glb, attributes["TEXCOORD_0"])
            assert len(x) == len(uv) == len(array(glb, attributes["NORMAL"]))
            index = array(glb, primitive["indices"])
            for t in range(0, len(index), 3):
                # the origin of glTF is at the upper left
                corners = tuple((x[i], (uv[i][0], 1 - uv[i][1])) for i in index[t:t + 3])
                triangles.append((names[primitive["material"]], primitive["extras"]["group"], corners))
        check_triangles(triangles, offset, n)
    flag = next(m for m in description["meshes"] if m["name"] == "flag")
    assert description["accessors"][flag["primitives"][0]["attributes"]["POSITION"]]["count"] == 8
    red = description["materials"][names.index("red cotton")]["pbrMetallicRoughness"]["baseColorFactor"]
    assert red == [1, 0, 0, 1], red
    assert names.count("red cotton") == 1


def check_usda():
    noli("convert", "run", "x.usda")
    with open("x.usda") as file:
        text = file.read()
    flag = text[text.index('def Xform "flag"'):text.index('def Xform "fine"')]

    def numbers(key):
        line = next(line for line in flag.splitlines() if key in line)
        return json.loads(line[line.index("= [") + 2:].replace("(", "[").replace(")", "]").rstrip("[ ").rstrip())

    uv, index = numbers("primvars:st = "), numbers("primvars:st:indices")
    faces = numbers("faceVertexIndices")
    assert len(index) == len(faces) == 12
    line = next(line for line in flag.splitlines() if "point3f[] points = " in line)
    x = json.loads(line[line.index("= [") + 2:].replace("(", "[").replace(")", "]"))
    groups = {}
    for part in flag.split("def GeomSubset ")[1:]:
        rows = json.loads(part[part.index("indices = ") + 10:].splitlines()[0])
        if "displayName" in part:
            groups[part.split('displayName = "')[1].split('"')[0]] = rows
        else:
            groups[part.split("</World/materials/")[1].split(">")[0]] = rows
    assert groups["left"] == groups["red_cotton"] and groups["right"] == groups["blue"], groups
    triangles = []
    for name in ("left", "right"):
        for t in groups[name]:
            corners = tuple((tuple(x[faces[k]]), tuple(uv[index[k]])) for k in range(3 * t, 3 * t + 3))
            triangles.append(({"left": "red cotton", "right": "blue"}[name], name, corners))
    check_triangles(triangles)
    assert 'displayName = "red cotton"' in text


def check_mistakes():
    said = noli("check", "scene.json", "--set", 'bodies[3].appearance="nowhere.obj"', status=2)
    assert "appearance" in said and "nowhere.obj" in said, said
    said = noli("check", "scene.json", "--set", 'bodies[3].appearance="solid.vtk"', status=2)
    assert "is no .obj or .ply file" in said, said
    # values that no reader can use are no reason to refuse a mesh
    for bad in ("vt nan", "vt", "vt 1.#IND x"):
        with open("odd.obj", "w") as file:
            file.write(FLAG.replace("vt 0.4 0\n", bad + "\n").replace("f 4/4/1", "f 4/99/1"))
        noli("run", "scene.json", "-o", "odd", "--force", "--quiet", "--set", 'bodies[0].mesh="odd.obj"')
        noli("convert", "odd", "odd_%d.obj")
        assert len(read_obj("odd_0.obj")["flag"]) == 4


def check_ply():
    """A quadrilateral of a PLY file with coordinates of corners, refined."""
    with open("quad.ply", "w") as file:
        file.write("ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
                   "element face 1\nproperty list uchar int vertex_indices\nproperty list uchar float texcoord\n"
                   "end_header\n0 0 0\n2 0 0\n2 0 1\n0 0 1\n4 0 1 2 3 8 0 0 1 0 1 0.5 0 0.5\n")
    with open("ply.json", "w") as file:
        json.dump({"time": {"step": 0.01, "steps": 1}, "gravity": [0, 0, 0], "bodies": [
            {"name": "quad", "mesh": "quad.ply", "refine": 1, "shell": {"thickness": 1e-3}}]}, file)
    noli("run", "ply.json", "-o", "ply", "--quiet")
    noli("convert", "ply", "ply_%d.obj")
    triangles = read_obj("ply_0.obj")["quad"]
    assert len(triangles) == 8, triangles
    for _, _, corners in triangles:
        for x, uv in corners:
            assert abs(uv[0] - x[0] / 2) < 1e-6 and abs(uv[1] - x[2] / 2) < 1e-6, (x, uv)


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    write_inputs()
    noli("run", "scene.json", "-o", "run", "--quiet")
    check_obj()
    check_glb()
    check_usda()
    check_mistakes()
    check_ply()
print("texture coordinates, materials and groups are kept")
