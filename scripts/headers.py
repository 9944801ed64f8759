"""Turns public headers into Markdown: one page per header, its introduction, then every type and function
with its comment and its declaration. The headers use one form: `///` before a declaration, `///<` after
a field, both full sentences.
"""
import os
import re

NAME = re.compile(r"\b(noli_\w+|Noli\w+|NOLI_\w+)\b")


def split(text):
    """The introduction of a header, and its items: (comment, declaration)."""
    intro, items, comment, code = [], [], [], []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("/// @file"):
            for rest in lines:
                if not rest.startswith("///"):
                    break
                intro.append(rest[3:].removeprefix(" "))
            continue
        if not code and line.startswith("///"):
            comment.append(line[3:].removeprefix(" "))
            continue
        if not code and is_noise(line):
            comment = comment if line.strip() else []
            continue
        code.append(line)
        if is_complete(code):
            items.append(("\n".join(comment), "\n".join(code)))
            comment, code = [], []
    return "\n".join(intro), items


def is_noise(line):
    """Lines that are not declarations for readers."""
    return (not line.strip() or line.startswith(("//", "extern \"C\"", "}")) or
            re.match(r"#(?!define NOLI_)", line) is not None or
            re.match(r"#define NOLI_(API|WARN_UNUSED|PRINTF)", line) is not None or
            line.startswith("  __attribute__"))


def is_complete(code):
    if code[0].startswith("#"):
        return not code[-1].endswith("\\")
    text = re.sub(r"//.*", "", "\n".join(code))
    return text.count("{") == text.count("}") and (text.rstrip().endswith(";") or
                                                  (text.rstrip().endswith("}") and "(" in code[0]))


def name_of(declaration):
    """The name that a declaration declares."""
    text = re.sub(r"//.*", "", declaration)
    patterns = (r"#define\s+(NOLI_\w+)", r"\btypedef\s+(?:struct|enum)\s+(\w+)", r"\b(noli_\w+)\s*\(",
                r"\b(Noli\w+)\s*\(")
    return next((found[1] for found in (re.search(p, text) for p in patterns) if found), None)


def declaration_of(code):
    """The declaration without attributes for compilers."""
    code = re.sub(r"NOLI_API |NOLI_WARN_UNUSED |static inline ", "", code)
    if code.startswith(("typedef struct", "typedef enum", "#")):
        return code
    # an inline function: what it does is its comment
    code = re.sub(r" \{\n.*", ";", code, flags=re.S)
    # lines that were aligned with removed text
    return re.sub(r"\n +", "\n    ", code)


def undocumented(folder):
    """Functions and types of the public headers without a comment."""
    missing = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            items = split(file.read())[1]
        for comment, code in items:
            inner = "///<" in code or "///" in code
            if not comment and not inner and "(" in code and re.match(r"NOLI_API|static inline", code):
                missing.append(f"include/noli/{name}: {name_of(code)} has no comment")
    return missing


def pages(folder):
    """(name of the header, Markdown, names that it declares) for each header with declarations."""
    result = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            intro, items = split(file.read())
        named = [(name_of(code), comment, code) for comment, code in items]
        named = [item for item in named if item[0]]
        if not named:
            continue
        lines = [f"# noli/{name}", "", intro.strip(), ""]
        for identifier, comment, code in named:
            lines += [f"## {identifier}", "", comment.strip(), "", "```c", declaration_of(code), "```", ""]
        result.append((name, "\n".join(lines), [item[0] for item in named]))
    return result
