#!/usr/bin/env python3
"""Error beside time: a picture (SVG) of the CSV files of noli_error_study, a panel for each scene, a line for each solver through its
tolerances.

usage: error_plot.py OUTPUT.svg FILE.csv ..
"""
import csv
import html
import math
import sys

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 330, 270, 60, 44, 26
SOLVERS = [  # what the name of a variant contains, the name of the line, its colour
    ("augmented_lagrangian", "constraints", "#b8541a"),
    ("termination=toi", "barrier, toi", "#2a7d4f"),
    ("", "barrier, residual", "#2457a6"),
]


def solver_of(variant):
    return next(index for index, (part, _, _) in enumerate(SOLVERS) if part in variant)


def read(path):
    """Scene, and the points (seconds, error of positions in percent) of each solver."""
    lines, scene = {}, ""
    for row in csv.DictReader(open(path)):
        scene = row["scene"]
        if row["variant"] != "converged" and float(row["position"]) > 0:
            lines.setdefault(solver_of(row["variant"]), []).append((float(row["seconds"]), float(row["position"])))
    return scene.replace("generated: ", ""), lines


def decades(values):
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def panel(scene, lines, x0):
    points = [point for line in lines.values() for point in line]
    low, high = math.log10(min(p[0] for p in points)) - 0.1, math.log10(max(p[0] for p in points)) + 0.1
    bottom, top = decades([p[1] for p in points])
    across = lambda seconds: x0 + LEFT + (WIDTH - LEFT - 14) * (math.log10(seconds) - low) / (high - low)
    up = lambda error: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (math.log10(error) - bottom) / (top - bottom)
    out = [f'<text x="{x0 + LEFT}" y="16" font-weight="bold">{html.escape(scene)}</text>']
    for k in range(bottom, top + 1):
        y = up(10.0 ** k)
        out.append(f'<line x1="{x0 + LEFT}" y1="{y:.1f}" x2="{x0 + WIDTH - 14}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{x0 + LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0 ** k:g} %</text>')
    for k in range(math.floor(low) - 1, math.ceil(high) + 1):
        for digit in (1, 2, 3, 5):
            seconds = digit * 10.0 ** k
            if low <= math.log10(seconds) <= high:
                out.append(f'<text x="{across(seconds):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{seconds:g}</text>')
    out.append(f'<text x="{x0 + (LEFT + WIDTH) / 2}" y="{HEIGHT - 8}" text-anchor="middle">CPU s a step</text>')
    for index in sorted(lines):
        colour = SOLVERS[index][2]
        line = sorted(lines[index])
        path = " ".join(f"{across(s):.1f},{up(e):.1f}" for s, e in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        out += [f'<circle cx="{across(s):.1f}" cy="{up(e):.1f}" r="3" fill="{colour}"/>' for s, e in line]
    return out


def main():
    files = sys.argv[2:]
    if not files:
        sys.exit(__doc__)
    scenes = [read(path) for path in files]
    columns = min(2, len(scenes))
    rows = (len(scenes) + columns - 1) // columns
    height = rows * HEIGHT + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns * WIDTH}" height="{height}" font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="white"/>']
    for index, (scene, lines) in enumerate(scenes):
        out += [f'<g transform="translate(0,{index // columns * HEIGHT})">', *panel(scene, lines, index % columns * WIDTH), "</g>"]
    for index, (_, name, colour) in enumerate(reversed(SOLVERS)):
        x = LEFT + 170 * index
        out.append(f'<circle cx="{x}" cy="{height - 14}" r="4" fill="{colour}"/><text x="{x + 10}" y="{height - 10}">{name}</text>')
    open(sys.argv[1], "w").write("\n".join(out + ["</svg>"]) + "\n")


if __name__ == "__main__":
    main()
