#!/usr/bin/env python3
"""Builds the Python package as a wheel, which carries the libraries and their notices.

usage: python_wheel.py SOURCE_DIRECTORY LIBRARY_DIRECTORY OUTPUT_DIRECTORY
Needs cffi. Prints the path of the wheel. The same input gives the same bytes.
"""
import base64
import contextlib
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

REQUIRES = ["cffi>=1.15", "numpy>=1.21"]


def version_of(source):
    text = (source / "include" / "noli" / "version.h").read_text(encoding="utf-8")
    parts = [re.search(rf"#define NOLI_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(parts), re.search(r"#define NOLI_ABI_VERSION (\d+)", text)[1]


def compiled_declarations(source):
    """The declarations as cffi's out-of-line module, which needs no parser of C."""
    import cffi  # pylint: disable=import-outside-toplevel
    maker = cffi.FFI()
    maker.set_source("noli._api", None)
    maker.cdef((source / "python" / "noli" / "declarations.h").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "_api.py"
        with contextlib.redirect_stdout(sys.stderr):
            maker.emit_python_code(str(path))
        return path.read_bytes()


def notices(library):
    """The copyright files of the Debian packages that the library is linked to."""
    found = {}
    try:
        needed = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
        direct = subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return found
    names = set(re.findall(r"NEEDED\s+(\S+)", direct))
    for name, path in re.findall(r"(\S+) => (\S+)", needed):
        owner = subprocess.run(["dpkg", "-S", os.path.realpath(path)], capture_output=True, text=True, check=False)
        package = owner.stdout.split(":")[0]
        notice = Path("/usr/share/doc") / package / "copyright"
        if name in names and package and notice.exists():
            found[f"{package}.txt"] = notice.read_bytes()
    # they refer to texts of the distribution
    common = Path("/usr/share/common-licenses")
    named = set(re.findall(rf"{common}/([\w.+-]*\w)", "".join(text.decode() for text in found.values())))
    return found | {f"{name}.txt": (common / name).read_bytes() for name in sorted(named) if (common / name).exists()}


def contents(source, libraries):
    """Everything but the metadata: path in the wheel and bytes."""
    version, abi = version_of(source)
    files = {f"noli/{path.name}": path.read_bytes() for path in sorted((source / "python" / "noli").iterdir())
             if path.suffix in (".py", ".h", ".typed")}
    files["noli/_api.py"] = compiled_declarations(source)
    licenses = f"noli-{version}.dist-info/licenses"
    files[f"{licenses}/LICENSE"] = (source / "LICENSE").read_bytes()
    for name in ("noli", "noli_import"):
        library = libraries / f"lib{name}.so.{abi}"
        files[f"noli/lib/{library.name}"] = library.read_bytes()
        for notice, text in notices(library).items():
            files[f"{licenses}/{notice}"] = text
    return files


def metadata(source, version):
    lines = ["Metadata-Version: 2.1", "Name: noli", f"Version: {version}",
             "Summary: Deformable solids, shells, cloth, rods and particles in contact",
             "License: MIT; linked to libraries under the GPL, see licenses", "Requires-Python: >=3.10",
             *(f"Requires-Dist: {package}" for package in REQUIRES), "Description-Content-Type: text/markdown", "",
             (source / "docs" / "reference" / "python.md").read_text(encoding="utf-8")]
    return "\n".join(lines).encode()


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 1
    source, libraries, output = map(Path, sys.argv[1:])
    version, _ = version_of(source)
    tag = f"py3-none-{platform.system().lower()}_{platform.machine()}"
    info = f"noli-{version}.dist-info"
    files = contents(source, libraries)
    files[f"{info}/METADATA"] = metadata(source, version)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: noli\nRoot-Is-Purelib: false\nTag: {tag}\n").encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()

    output.mkdir(parents=True, exist_ok=True)
    path = output / f"noli-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data)
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
