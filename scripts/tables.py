"""Tables of Markdown as CSV files, which the site shows as tables that open on a click."""
import csv
import io
import os
import re

LINE = re.compile(r"^\|.*\|\s*$")


def read(path):
    """A text, or None if there is no such file."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def cells_of(line):
    """The cells of a line of a table; a bar within a formula or code is escaped."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def csv_of(lines):
    """A table of Markdown, with or without its outer bars, as CSV."""
    rows = [cells_of(line if line.startswith("|") else f"| {line} |") for line in lines]
    rows = [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def rows_of(text):
    """The rows of a CSV file, the names of its columns first."""
    return list(csv.reader(io.StringIO(text)))


def split(text):
    """Markdown as pairs (lines of text before, lines of a table); the last table may be empty."""
    parts, before, table = [], [], []
    for line in text.splitlines():
        if LINE.match(line):
            table.append(line)
            continue
        if table:
            parts.append((before, table))
            before, table = [], []
        before.append(line)
    return parts + [(before, table)] if before or table else parts


def link(caption, n_rows, path):
    """The paragraph that stands for a table in a document."""
    return f"[{caption}: {n_rows} row{'s' if n_rows != 1 else ''}]({path})"
