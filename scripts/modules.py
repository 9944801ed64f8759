#!/usr/bin/env python3
"""Draws the modules of src and what they include: docs/images/modules.svg.

usage: modules.py [--check] SOURCE_DIRECTORY

A module is a folder of src. An arrow leads from a module to one that it includes; arrows that follow from others are left out, so that the
picture changes only when the structure does. --check writes nothing and fails if the picture is not that of the includes.
"""
import os
import sys

from check_includes import ROOMS, files_below, includes

WIDTH, HEIGHT, GAP, ROW, MARGIN = 116, 34, 26, 78, 20
STYLE = ("text{font:14px system-ui,sans-serif;text-anchor:middle;fill:#1d2730}"
         ".box{fill:#e8eff7;stroke:#5a7ea6}.bar{fill:#f3efe4;stroke:#a6905a}.line{stroke:#7d8790;fill:none;marker-end:url(#tip)}")


def uses(source):
    """The modules that each module includes, in the order of the modules."""
    root, found = os.path.join(source, "src"), {}
    for path in files_below(root, (".c", ".h")):
        module = os.path.relpath(path, root).split(os.sep)[0]
        own = found.setdefault(module, set())
        own |= {name.split("/")[0] for mark, name in includes(path) if mark == '"'}
    order = [module for module in ROOMS if module in found]
    return {module: [other for other in order if other in found[module] and other != module] for module in order}


def reach(graph):
    """All modules below each one."""
    below = {}
    for module in graph:
        below[module] = set(graph[module]).union(*(below.get(other, set()) for other in graph[module]))
    return below


def reduced(graph):
    """Without the arrows that follow from others."""
    below = reach(graph)
    return {module: [other for other in others if not any(other in below[third] for third in others if third != other)]
            for module, others in graph.items()}


def levels(graph):
    level = {}
    for module in graph:
        level[module] = 1 + max((level[other] for other in graph[module]), default=-1)
    return level


def places(arrows, level):
    """The middle of each box: rows by level, within a row near the boxes below."""
    x, rows = {}, {}
    for module in arrows:
        rows.setdefault(level[module], []).append(module)
    widest = max(len(row) for row in rows.values())
    for height in sorted(rows):
        row = sorted(rows[height], key=lambda m: sum(x[o] for o in arrows[m]) / len(arrows[m]) if arrows[m] else 0)
        left = (widest - len(row)) / 2
        for k, module in enumerate(row):
            x[module] = left + k + 0.5
    return x, widest


def box(kind, x, y, width, text):
    return (f'<rect class="{kind}" x="{x - width / 2:g}" y="{y - HEIGHT / 2:g}" width="{width:g}" height="{HEIGHT}" rx="5"/>'
            f'<text x="{x:g}" y="{y + 5:g}">{text}</text>')


def svg(graph):
    arrows, level = reduced(graph), levels(graph)
    x, widest = places(arrows, level)
    top = max(level.values())
    width, height = 2 * MARGIN + widest * (WIDTH + GAP) - GAP, 2 * MARGIN + (top + 2) * ROW + HEIGHT
    at = {module: (MARGIN + x[module] * (WIDTH + GAP) - GAP / 2, MARGIN + HEIGHT / 2 + (top + 2 - level[module]) * ROW) for module in arrows}
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">',
             f'<style>{STYLE}</style><defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
             '<path d="M0 0L8 4L0 8z" fill="#7d8790"/></marker></defs>']
    first = MARGIN + HEIGHT / 2
    lines.append(f'<path class="line" d="M{width / 2:g} {first + HEIGHT / 2:g}V{first + ROW - HEIGHT / 2:g}"/>')
    for module, others in arrows.items():
        for other in others:
            (x0, y0), (x1, y1) = at[module], at[other]
            y0, y1 = y0 + HEIGHT / 2, y1 - HEIGHT / 2
            lines.append(f'<path class="line" d="M{x0:g} {y0:g}C{x0:g} {y0 + 26:g} {x1:g} {y1 - 26:g} {x1:g} {y1:g}"/>')
    lines.append(box("bar", width / 2, first, width - 2 * MARGIN, "apps/noli, python, examples, validation, bench"))
    lines.append(box("bar", width / 2, first + ROW, width - 2 * MARGIN, "include/noli: the public interface, which the modules below implement"))
    lines += [box("box", *at[module], WIDTH, module) for module in arrows]
    return "\n".join(lines) + "\n</svg>\n"


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    if len(words) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    path = os.path.join(words[0], "docs", "images", "modules.svg")
    picture = svg(uses(words[0]))
    if "--check" in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            if file.read() != picture:
                print(f"{path} is not the picture of the includes: run scripts/modules.py {words[0]}", file=sys.stderr)
                return 1
        return 0
    with open(path, "w", encoding="utf-8") as file:
        file.write(picture)
    print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
