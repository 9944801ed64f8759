#!/usr/bin/env python3
"""Writes a table in C of calls of every public function with NULL: for each pointer in turn, with valid values
for all others, and for all pointers at once. tests/strangers/null_calls.c makes the calls.

usage: null_calls.py [--cc COMPILER] SOURCE_DIRECTORY OUTPUT
"""
import argparse
import re

from python_declarations import preprocess, without_bodies

# Variables of the test that have these types; `->NAME`: members of its fixture.
OBJECTS = {"NoliContext": "context", "NoliSim": "sim", "NoliMesh": "mesh", "NoliScene": "scene", "NoliRun": "run", "NoliBatch": "batch",
           "NoliParameters": "parameters", "NoliGoals": "goals", "NoliDesign": "design", "NoliBarrierPotential": "barrier",
           "NoliGcpPotential": "gcp"}
# Without a status, and what they return for NULL is not 0, NULL, "" or false: the header says what.
OTHER_VALUES = {"noli_sim_state_difference", "noli_nearest"}
# They record the failure of another function.
FAILURES = ("noli_fail", "noli_refuse_null")
# Pointers that may be NULL, as their comments say.
OPTIONAL = {"noli_context_create": {"def"}, "noli_lend_threads": {"host"}, "noli_goals_create": {"parameters"}}


# Which pointers are NULL, besides one alone.
WHAT = {"all": "every pointer", "rest": "every pointer but the context"}


def functions(text):
    """(result, name, [(type, name)]) of every function that is declared."""
    text = re.sub(r"\s+", " ", without_bodies(text))
    for result, name, arguments in re.findall(r"(?:^|[;}]) ?((?:const )?\w+ ?\**) ?(noli_\w+)\(((?:[^();]|\([^()]*\))*)\) ?(?=;)", text):
        parameters = []
        for argument in arguments.split(","):
            argument = argument.strip()
            if argument in ("void", "..."):
                continue
            kind, own, dims = re.fullmatch(r"(.*?)(\w+)((?:\[\w*\])*)", argument).groups()
            parameters.append((kind.strip() + ("*" if dims else ""), own))
        yield result.strip(), name, parameters


def pointee(kind):
    return re.sub(r"^const | ?const\*$|\*$", "", kind).strip().removeprefix("const ").rstrip("*").strip()


def is_pointer(kind):
    return kind.endswith("*") or kind in ("NoliRanksLost",)


def value_of(kind, own, function, parameters):
    """A valid value: what a fixture holds, or a number."""
    base, stars = pointee(kind), kind.count("*")
    if stars == 2 and base in OBJECTS and re.search(r"_(destroy|close)$", function):
        return f"&f->{OBJECTS[base]}"
    if stars == 2:
        return f"({kind})(void*)f->slot" if base != "char" or "const" not in kind else "f->words"
    if base in OBJECTS and stars == 1:
        return f"f->{OBJECTS[base]}"
    if kind == "const char*":
        return "f->json" if own == "text" else "f->text"
    if kind in ("const NoliSimDef*",):
        return "f->sim_def"
    if base == "NoliRanks" or base.endswith("Fn") or kind == "NoliRanksLost":
        return "NULL"
    if kind.startswith("const Noli") and base.endswith("Def") and base != "NoliSimDef":
        return f"&f->{base[4:].lower()}"
    if stars == 1:
        return f"({kind})(void*)f->room"
    if kind == "size_t":
        of = [pointee(k) for k, _ in parameters if k.count("*") == 1 and re.fullmatch(r"Noli\w+", pointee(k)) and pointee(k) not in OBJECTS]
        return f"sizeof({of[0]})" if of else "64"
    if kind == "bool":
        return "false"
    if kind == "double":
        return "1.0"
    if kind.startswith("Noli"):
        return f"({kind})0"
    return "1" if own == "n" or own.startswith("n_") else "0"


def call(function, parameters, null):
    values = [("NULL" if is_pointer(kind) and (null in ("all", i) or (null == "rest" and i > 0))
               else value_of(kind, own, function, parameters)) for i, (kind, own) in enumerate(parameters)]
    return f"{function}({', '.join(values)})"


def wrap(result, made):
    """A statement that records what the call returns."""
    if result == "void":
        return f"{made};\n  return nothing();"
    if result == "NoliStatus":
        return f"return of_status({made});"
    if result == "const char*" or result == "char*":
        return f"return of_text({made});"
    if result.endswith("*"):
        return f"return of_pointer({made});"
    if result in ("double",):
        return f"return of_double({made});"
    if result in ("bool", "int32_t", "int64_t", "uint64_t", "size_t") or (result.startswith("Noli") and result.endswith("Choice")):
        return f"return of_number((double){made});"
    return f"(void){made};\n  return nothing();"


def names(text):
    """Functions that name a number, an enumerator or an index: (name, types)."""
    return [(name, [kind for kind, _ in parameters]) for result, name, parameters in functions(text)
            if result == "const char*" and parameters and not any(is_pointer(kind) for kind, _ in parameters)]


def table(text):
    body, rows = [], []
    for result, name, parameters in functions(text):
        pointers = [i for i, (kind, _) in enumerate(parameters) if is_pointer(kind)]
        in_context = len(pointers) > 1 and parameters[0][0] == "NoliContext*"
        for null in (["all"] if pointers else []) + (["rest"] if in_context else []) + pointers:
            at = f"call_{len(rows)}"
            what = WHAT[null] if null in WHAT else parameters[null][1]
            owner = null in ("all", "rest") or (pointee(parameters[null][0]) in OBJECTS and parameters[null][0].count("*") == 1)
            allowed = OPTIONAL.get(name, set())
            refuses = result == "NoliStatus" and owner and name not in FAILURES[:1] and \
                not all(own in allowed for kind, own in parameters if is_pointer(kind) and (null in ("all", "rest") or own == what))
            named = refuses and in_context and null not in ("all", 0) and name not in FAILURES
            neutral = result not in ("NoliStatus", "void") and owner and name not in OTHER_VALUES
            made = wrap(result, call(name, parameters, null))
            body.append(f"static Returned {at}(Fixture* f) {{\n  (void)f;\n  {made}\n}}\n")
            rows.append(f'  {{"{name}", "{what}", {at}, {str(refuses).lower()}, {str(named).lower()}, {str(neutral).lower()}}},')
    listed = [f'  {{"{name}", name_{i}}},' for i, (name, _) in enumerate(names(text))]
    for i, (name, kinds) in enumerate(names(text)):
        given = ", ".join(f"({kind})n[{k}]" for k, kind in enumerate(kinds))
        body.append(f"static const char* name_{i}(const int64_t n[2]) {{\n  return {name}({given});\n}}\n")
    return ("// Generated from include/noli by scripts/null_calls.py.\n" + "\n".join(body) + "\nstatic const Call calls[] = {\n" +
            "\n".join(rows) + "\n};\n\nstatic const NameCall name_calls[] = {\n" + "\n".join(listed) + "\n};\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cc", default="cc")
    parser.add_argument("source")
    parser.add_argument("output")
    arguments = parser.parse_args()
    text = preprocess(arguments.source, arguments.cc)
    text = re.sub(r'constant ".*$', "", text, flags=re.M)
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write(table(text))


if __name__ == "__main__":
    main()
