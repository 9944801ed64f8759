#!/usr/bin/env python3
"""The gallery of examples: docs/start/examples.json lists every scene of the directory examples with its text, and the tables of
docs/start/examples.md follow from it.

usage: gallery.py [--check] [--run NOLI [NAME ...]]
  no option     write the tables of docs/start/examples.md
  --check       write nothing; exit status 1 if the tables are not current, a scene has no entry, or an entry no picture
  --run NOLI    first simulate scenes that have no finished result in out/examples, with one thread; note their processor
                time in docs/start/examples.json, and write their pages to out/pages. NAME: such as demo or high_order/rollers, whose
                pictures are rendered again; default: all, those that take more than ten minutes in part
"""
import argparse
import json
import os
import re
import resource
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST, PAGE = os.path.join(SOURCE, "docs/start/examples.json"), os.path.join(SOURCE, "docs/start/examples.md")
LIMIT = 600  # s


def name_of(scene):
    return scene.replace("/", "_")


def picture_of(entry):
    return entry.get("picture", f"images/examples/{name_of(entry['scene'])}.png")


def time_text(seconds):
    """"7 s", "3 min", "2 h"; None: it was not waited for."""
    if seconds is None:
        return f"over {LIMIT // 60} min"
    for limit, size, unit in ((90, 1, "s"), (5400, 60, "min"), (float("inf"), 3600, "h")):
        if seconds < limit:
            return f"{max(1, round(seconds / size))} {unit}"
    return ""


def table(entries):
    lines = ["| picture | command | time | what it shows |", "|---|---|---|---|"]
    for entry in entries:
        scene = entry["scene"]
        lines.append(f"| ![{name_of(scene)}](../{picture_of(entry)}) | `noli {entry.get('command', 'run')} examples/{scene}.json` | "
                     f"{time_text(entry['seconds']) if 'seconds' in entry else ''} | {entry['text']} |")
    return "\n".join(lines)


def with_tables(text, sections):
    for title, entries in sections.items():
        pattern = rf"(<!-- gallery {re.escape(title)} -->\n).*?(<!-- end -->)"
        text, n = re.subn(pattern, lambda m, e=entries: f"{m[1]}{table(e)}\n{m[2]}", text, flags=re.S)
        if n != 1:
            sys.exit(f"gallery.py: docs/start/examples.md has {n} places for the table \"{title}\"")
    return text


def defects(sections, text):
    """What is missing."""
    found = []
    listed = [entry["scene"] for entries in sections.values() for entry in entries]
    scenes = [os.path.relpath(os.path.join(folder, file), os.path.join(SOURCE, "examples"))[:-5]
              for folder, _, files in os.walk(os.path.join(SOURCE, "examples")) for file in files if file.endswith(".json")]
    found += [f"examples/{scene}.json has no entry in docs/start/examples.json" for scene in sorted(set(scenes) - set(listed))]
    found += [f"docs/start/examples.json: there is no examples/{scene}.json" for scene in sorted(set(listed) - set(scenes))]
    found += [f"docs/start/examples.json: {scene} is listed twice" for scene in sorted({s for s in listed if listed.count(s) > 1})]
    for entries in sections.values():
        for entry in entries:
            path = os.path.join(SOURCE, "docs", picture_of(entry))
            if not os.path.isfile(path) or os.path.getsize(path) < 1000:
                found.append(f"{entry['scene']}: no picture docs/{picture_of(entry)}")
            if "seconds" not in entry:
                found.append(f"{entry['scene']}: no time")
    if with_tables(text, sections) != text:
        found.append("docs/start/examples.md is not current: run scripts/gallery.py")
    return found


def save(sections):
    """A line for each entry."""
    blocks = (f"  {json.dumps(title)}: [\n" + ",\n".join("    " + json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n  ]"
              for title, entries in sections.items())
    with open(LIST, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(blocks) + "\n}\n")


def is_finished(directory):
    try:
        with open(f"{directory}/summary.json", encoding="utf-8") as file:
            return json.load(file)["finished"]
    except (OSError, ValueError, KeyError):
        return False


def commands(entry, scene, directory):
    """What makes the result of an entry: a run, or a design and the run of the best scene that it finds."""
    source = f"{SOURCE}/examples/{scene}.json"
    design = []
    if entry.get("command") == "design":
        design, source = [["design", source, "-o", f"{directory}_design", "--threads", "1"]], f"{directory}_design/best.json"
    return [*design, ["run", source, "-o", directory, "--force", "--threads", "1", "--quiet"]]


def simulate(noli, entry, directory):
    """Runs a scene on one thread; returns its processor time, s, or None if it takes too long."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    for command in commands(entry, entry["scene"], directory):
        try:
            done = subprocess.run([noli, *command], env=environment, timeout=LIMIT, check=False, stdout=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0:
            sys.exit(f"gallery.py: examples/{entry['scene']}.json: exit status {done.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(noli, sections, names):
    os.makedirs(f"{SOURCE}/out/pages", exist_ok=True)
    for entries in sections.values():
        for entry in entries:
            scene = entry["scene"]
            if names and scene not in names:
                continue
            directory = f"{SOURCE}/out/examples/{scene}"
            if not is_finished(directory):
                seconds = simulate(noli, entry, directory)
                entry["seconds"] = None if seconds is None else float(f"{seconds:.2g}")
                print(f"{scene}: {time_text(entry['seconds'])}", flush=True)
                save(sections)
            if "render" in entry and (names or not os.path.isfile(f"{SOURCE}/docs/{picture_of(entry)}")):
                subprocess.run([sys.executable, f"{SOURCE}/scripts/render.py", directory, f"{SOURCE}/docs/{picture_of(entry)}",
                                "--size", "400x300", *entry["render"]], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([noli, "view", directory, "-o", f"{SOURCE}/out/pages/{name_of(scene)}.html"], check=True,
                           stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--run", nargs="+", metavar=("NOLI", "NAME"))
    arguments = parser.parse_args()
    with open(LIST, encoding="utf-8") as file:
        sections = json.load(file)
    if arguments.run:
        run(arguments.run[0], sections, arguments.run[1:])
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    if arguments.check:
        found = defects(sections, text)
        print("\n".join(found) or f"{sum(len(e) for e in sections.values())} examples, each with a picture and a time")
        sys.exit(1 if found else 0)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(with_tables(text, sections))


main()
