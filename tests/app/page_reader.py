"""Reads what `noli view` stores in a page, as the page itself does, but independently of it."""

import base64
import json
import re
import zlib

import numpy


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.about = json.loads(self.element("about"))

    def element(self, name):
        found = re.search(f'<script type="[^"]*" id="{re.escape(name)}">(.*?)</script>', self.text, re.S)
        return found.group(1) if found else None

    def inflate(self, name):
        return zlib.decompress(base64.b64decode(self.element(name)))

    def surface(self):
        """Triangles in numbers of the page, body and number in the simulation of each vertex."""
        about = self.about
        numbers = numpy.frombuffer(self.inflate("mesh"), dtype="<i4")
        sizes = (3 * about["n_triangles"], 2 * about["n_segments"], about["n_points"], about["n_vert"], about["n_vert"])
        parts = numpy.split(numbers, numpy.cumsum(sizes))
        assert len(parts[-1]) == 0
        return parts[0].reshape(-1, 3), parts[3], parts[4]

    def frames(self):
        """Positions (n x 3) and fields of all frames, as floating-point numbers."""
        n = self.about["n_vert"]
        for g, group in enumerate(self.about["groups"]):
            data = numpy.frombuffer(self.inflate(f"g{g}"), dtype=numpy.uint8).astype(numpy.int64)
            at, past, fields = 0, [], None
            for _ in range(group["n"]):
                q = numpy.zeros((n, 3), dtype=numpy.int64)
                for axis in range(3):
                    order, chained = data[at] >> 1, data[at] & 1
                    fine, *coarse = data[at + 1:at + 1 + 3 * n].reshape(3, n)
                    zigzag = coarse[0] + 256 * coarse[1]
                    error = 256 * ((zigzag >> 1) ^ -(zigzag & 1)) + fine
                    if chained:
                        error = numpy.cumsum(error)
                    if order == 1:
                        error += past[-1][:, axis]
                    elif order == 2:
                        error += 2 * past[-1][:, axis] - past[-2 if len(past) > 1 else -1][:, axis]
                    q[:, axis] = error % (1 << 24)
                    at += 1 + 3 * n
                past.append(q)
                values = []
                for k, field in enumerate(self.about["fields"]):
                    size = n * field["components"]
                    stored = data[at:at + size] + (fields[k] if fields else 0)
                    values.append(stored % 256)
                    at += size
                fields = values
                low, high = numpy.array(group["low"]), numpy.array(group["high"])
                result = {}
                for k, field in enumerate(self.about["fields"]):
                    scale = group["scale"][k]
                    result[field["name"]] = ((scale * values[k] / 255) ** (2 if field.get("root") else 1)
                                             if field["components"] == 1 else scale * (values[k].reshape(-1, 3) - 127) / 127)
                yield low + (high - low) * q / (256 * 65535), result, low, high, group["scale"]
            assert at == len(data)
