#!/bin/sh
# Pictures of a run show what they are asked to show; every error is one line and a status.
# Arguments: the program, the source directory, Python.
set -u
noli=$1 source=$2 python=$3
"$python" -c 'import numpy' 2>/dev/null || {
  echo 'SKIPPED: install python3-numpy'
  exit 77
}
. "${0%/*}/expect.sh"
render() {
  "$python" "$source/scripts/render.py" "$@"
}
# refused STATUS TEXT ARGUMENTS...: one line that has the text, and no picture.
refused() {
  status=$1 text=$2
  shift 2
  expect "$status" "$text" render "$@"
  [ "$(wc -l <said)" -eq 1 ] || { fail "$*: more than one line"; cat said >&2; }
  [ ! -e no.png ] || { fail "$*: wrote a picture"; rm no.png; }
}

# ---- a cube above the floor, a pad under a plate ----
expect 0 '' "$noli" run "$source/examples/guide/first.json" -o first --steps 2 --quiet
expect 0 '' "$noli" run "$source/examples/guide/press.json" -o press --steps 4 --quiet
expect 0 't = 0.02 s, 192 triangles' render first last.png --size 96x64
expect 0 't = 0 s, 192 triangles' render first/frame_000000.vtu cube.png --size 96x64
expect 0 '' "$noli" run "$source/examples/rods.json" -o rods --steps 1 --quiet
# 108 of the ball, 12 for each of 208 segments, 8 for each of 16 points
expect 0 '2732 triangles, velocity' render rods rods.png --size 96x64 --field velocity
expect 0 '' render rods net.png --size 96x64 --hide ball --hide grains
cmp -s rods.png net.png && fail 'hidden points and bodies are drawn'
expect 0 '' render first/frame_000000.vtu low.png --size 96x64 --floor 0.0
expect 0 '' render first/frame_000000.vtu high.png --size 96x64 --floor 0.15
expect 0 '' render first bare.png --frame 0 --size 96x64 --hide floor
expect 0 'velocity 0.0981 to 0.0981' render first field.png --frame 1 --field velocity --size 64x64
cmp -s cube.png low.png || fail 'the floor is not where the scene has it'
cmp -s cube.png high.png && fail 'the floor follows the lowest body'
cmp -s cube.png bare.png && fail 'a hidden floor is drawn'
for way in '' '--hide plate' '--transparent plate' '--transparent plate=1' '--bodies'; do
  # shellcheck disable=SC2086 # the options are words
  expect 0 '' render press "press$(echo "$way" | tr -dc 'a-z1')".png --size 96x64 --view 30,40 $way
done
cmp -s press.png presstransparentplate1.png || fail 'alpha 1 is not opaque'
cmp -s presshideplate.png pressbodies.png || fail 'the plate is the only obstacle'

# ---- a moving picture: its parts are in order, and each has the pixels that it says ----
expect 0 '3 frames' render press moving.png --size 96x64 --every 1
refused 2 'needs a number of frames' press no.png --every 0
refused 2 'needs a number of frames' press/frame_000000.vtu no.png --every 1
cat >moving.py <<'END'
import struct, zlib
data, at, kinds, numbers, sizes = open("moving.png", "rb").read(), 8, [], [], []
while at < len(data):
    size, = struct.unpack(">I", data[at:at + 4])
    kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
    assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
    kinds.append(kind)
    if kind == b"fcTL":
        number, width, height, left, top, delay = struct.unpack(">IIIIIH", body[:22])
        assert left + width <= 96 and top + height <= 64 and delay in (20, 1000), (left, width, top, height, delay)
        sizes.append((width, height))
    if kind in (b"fcTL", b"fdAT"):
        numbers.append(struct.unpack(">I", body[:4])[0])
    if kind in (b"IDAT", b"fdAT"):
        rows = zlib.decompress(body[4:] if kind == b"fdAT" else body)
        assert len(rows) == sizes[-1][1] * (1 + 3 * sizes[-1][0])
    at += 12 + size
assert kinds == [b"IHDR", b"acTL", b"fcTL", b"IDAT", b"fcTL", b"fdAT", b"fcTL", b"fdAT", b"IEND"], kinds
assert numbers == list(range(5)), numbers
END
expect 0 '' "$python" moving.py

# ---- copies: their own names, and one for all ----
cat >copies.json <<'END'
{
  "time": {"step": 0.01, "steps": 1},
  "bodies": [{"name": "box", "mesh": {"box": {"size": [0.1, 0.1, 0.1], "cells": [1, 1, 1]}}, "translate": [0, 1, 0],
              "copies": {"count": 3, "translate": [0.3, 0, 0]}}],
  "obstacles": [{"name": "ground", "mesh": {"box": {"size": [2, 0.1, 2], "cells": [1, 1, 1]}}}]
}
END
expect 0 '' "$noli" run copies.json -o copies --quiet
expect 0 '36 triangles' render copies boxes.png --size 64x64 --bodies
expect 0 '12 triangles' render copies ground.png --size 64x64 --hide box
expect 0 '36 triangles' render copies two.png --size 64x64 --hide 'box[1]'
refused 2 'no "box[3]"; did you mean' copies no.png --hide 'box[3]'

"$python" - "$source/scripts" <<'EOF' || fail 'wrong pictures or frames'
import struct, sys, zlib
import numpy as np
sys.path.insert(0, sys.argv[1])
import frames

def pixels(path):
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    width, height = struct.unpack(">II", data[16:24])
    start = data.index(b"IDAT")
    rows = zlib.decompress(data[start + 4 : start + 4 + struct.unpack(">I", data[start - 4 : start])[0]])
    above, picture = bytes(3 * width), []
    for y in range(height):
        kind, row = rows[y * (3 * width + 1)], bytearray(rows[y * (3 * width + 1) + 1 : (y + 1) * (3 * width + 1)])
        for i in range(3 * width if kind > 0 else 0):
            a, b, c = row[i - 3] if i > 2 else 0, above[i], above[i - 3] if i > 2 else 0
            nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row[i] = row[i] + (a, b, (a + b) // 2, nearest)[kind - 1] & 255
        above = bytes(row)
        picture.append(above)
    return np.frombuffer(b"".join(picture), "u1").reshape(height, width, 3).astype(int)

def share(path, channel, excess):
    """The part of the pixels in which a channel exceeds the opposite one (red, blue)."""
    picture = pixels(path)
    return np.mean(picture[..., channel] - picture[..., 2 - channel] > excess)

assert pixels("last.png").shape == (64, 96, 3)
blue = 2
# the plate, an obstacle, is grey, the pad blue
plate = np.mean(np.ptp(np.stack([pixels("press.png"), pixels("presshideplate.png")]), axis=0).max(axis=2) > 20)
pad = [share(path, blue, 40) for path in ("press.png", "presshideplate.png", "presstransparentplate.png")]
assert plate > 0.1, plate
# it covers the pad, and is smaller in the picture with the plate
assert pad[0] < 0.01 and pad[1] > 0.2 and pad[2] > 0.05, pad

# the reader: the rest shape of the cube, the fall of two steps, the fields
first, last = frames.list_frames("first")[0], frames.read_frame(frames.list_frames("first")[-1])
frame = frames.read_frame(first)
_, tets = frame.cells(frames.TETRAHEDRON)
corner = frame.points[tets]
volumes = np.linalg.det(corner[:, 1:] - corner[:, :1]) / 6
assert len(frame.points) == 125 and len(tets) == 384 and abs(volumes.sum() - 1e-3) < 1e-15, volumes.sum()
fall = last.points[:, 1] - frame.points[:, 1]
assert np.allclose(fall, -9.80665 * 3e-4, rtol=1e-6, atol=0) and abs(last.time - 0.02) < 1e-15, fall
assert np.allclose(last.point_data["displacement"][:, 1], fall, rtol=1e-5)
assert sorted(frames.read_frame(frames.list_frames("press")[-1]).cell_data["body"])[::300] == [0, 0, 0]
EOF

# ---- errors ----
refused 4 'nowhere: no such file or directory' nowhere no.png
refused 4 'is not the directory of a run' . no.png
refused 2 'first has frames 0 to 2' first no.png --frame 3
refused 2 'first has frames 0 to 2' first no.png --frame -4
refused 2 'it has: body, contact_force' first no.png --field stress
for size in 0x0 96 96x1000000 axb; do
  refused 2 'want WIDTHxHEIGHT in pixels' first no.png --size $size
done
for view in 30 30,91 x,y nan,0; do
  refused 2 'want AZIMUTH,ELEVATION in degrees' first no.png --view $view
done
refused 2 'pictures are written as .png, not as ".jpg"' first no.jpg
refused 4 'cannot be written: No such file or directory' first nowhere/no.png
refused 2 'did you mean "plate"?' press no.png --hide plat
refused 2 'the scene has no "lid"' press no.png --transparent lid=0.5
refused 2 'ALPHA from 0 (invisible) to 1 (opaque)' press no.png --transparent plate=2
refused 2 'ALPHA from 0 (invisible) to 1 (opaque)' press no.png --transparent plate=half
refused 2 'nothing is left to draw' first no.png --hide cube
refused 2 'want a number' first no.png --floor low
refused 2 'unrecognized arguments: --colour' first no.png --colour
refused 2 'the following arguments are required' first
mkdir damaged
head -c 3000 first/frame_000000.vtu >damaged/cut.vtu
sed 's/A\(.\)A/B\1B/g' first/frame_000000.vtu >damaged/wrong.vtu
echo '<xml/>' >damaged/other.vtu
for frame in cut wrong other; do
  refused 2 'is not a frame of Noli, or is damaged' damaged/$frame.vtu no.png
done
cp first/frame_000000.vtu damaged/scene.json
cp first/frame_000000.vtu damaged
refused 2 'damaged/scene.json' damaged/frame_000000.vtu no.png
rm damaged/scene.json
refused 2 'no scene.json with names lies beside the frame' damaged/frame_000000.vtu no.png --hide cube

# it is a command, of the Python that has the packages of the distribution; without NumPy it names the missing package
[ -x "$source/scripts/render.py" ] || fail 'scripts/render.py is not executable'
[ "$(head -n 1 "$source/scripts/render.py")" = '#!/usr/bin/python3' ] || fail 'another Python may come first'
mkdir numpy
echo 'raise ImportError("numpy")' >numpy/__init__.py
PYTHONPATH=. refused 4 'apt-get install python3-numpy' first no.png

[ "$failures" -eq 0 ] || exit 1
