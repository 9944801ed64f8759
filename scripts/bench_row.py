#!/usr/bin/env python3
"""Adds a run of `noli run` or `noli resume` to a file of measurements, so that long runs need not be repeated for a table.

Usage: bench_row.py FILE.json SCENE DIR

SCENE is the name of the row, as in `noli_bench --list`; an existing row of that name is replaced in place. The processor
time of such runs is unknown; contacts are those at the ends of steps, weighted with iterations.
"""
import csv
import json
import os
import sys


def number(text):
    value = float(text)
    return value if abs(value) < float("inf") else None


def row(name, directory):
    with open(os.path.join(directory, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    with open(os.path.join(directory, "scene.json"), encoding="utf-8") as file:
        scene = json.load(file)
    with open(os.path.join(directory, "steps.csv"), encoding="utf-8") as file:
        steps = list(csv.DictReader(file))
    count = len(steps)
    wanted = round(scene["time"].get("steps") or scene["time"]["duration"] / scene["time"]["step"])
    contacts = sum(int(step["newton"]) * int(step["contacts"]) for step in steps)
    failure = summary["failure"]
    return {
        "scene": name, "message": f"step {count + 1}: {failure}"[:599] if failure else "",
        "note": "a run of its own, of noli run", "nodes": summary["nodes"], "tets": summary["tets"],
        "surface_triangles": summary["surface_triangles"], "threads": summary["threads"], "steps": count,
        "steps_wanted": wanted, "steps_scene": wanted, "time_step": scene["time"]["step"],
        "contact_distance": scene["contact"].get("distance"), "tolerance": scene["solver"].get("tolerance"),
        "setup_seconds": None, "seconds": summary["solve_s"], "seconds_cpu": None,
        "seconds_max": max(float(step["wall_s"]) for step in steps),
        "newton": summary["newton_total"], "newton_max": summary["newton_max"],
        "contacts_sum": float(contacts), "contacts_max": summary["contacts_max"],
        "min_distance": summary["min_distance"], "memory_mb": summary["peak_rss_mb"],
        "steps_audited": count if scene["debug"]["audit"] else 0, "max_speed": number(steps[-1]["max_speed"]),
        "state": "failed" if failure else "done" if count == wanted else "budget", "stages": summary["timing"],
    }


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    path, name, directory = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        measured = json.load(file)
    made = row(name, directory)
    places = [i for i, scene in enumerate(measured["scenes"]) if scene["scene"] == name]
    if places:
        measured["scenes"][places[0]] = made
    else:
        measured["scenes"].append(made)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(measured, file, indent=2)


main()
