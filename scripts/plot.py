"""Line plots as SVG text: small, and the same bytes for the same numbers. Needs only Python.

svg(plot): `plot` has the labels "x" and "y", "log" (both axes), and "series", each with "name", "style"
("line", "points", "both", or "theory": a thin black line), and numbers "x" and "y".
"""
import math

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 640, 400, 70, 16, 52
COLORS = ["#2166ac", "#d6604d", "#4d9221", "#8073ac", "#b8860b", "#1b9e9e", "#c51b7d", "#777777"]
MARKS = ["circle", "square", "triangle", "diamond"]


def number(value):
    """A coordinate: a tenth of a pixel is enough."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def linear_ticks(low, high):
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (step * f) <= 7)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low, high):
    """Powers of ten; 2 and 5 times them as well where there are few."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1,), (1, 2, 5), range(1, 10)):
        ticks = [f * 10.0 ** d for d in decades for f in factors]
        ticks = [t for t in ticks if low * (1 - 1e-9) <= t <= high * (1 + 1e-9)]
        if len(ticks) >= 3:
            break
    return ticks


class Axis:
    def __init__(self, values, log, begin, end):
        self.log, self.begin, self.end = log, begin, end
        low, high = min(values), max(values)
        if log:
            margin = (high / low) ** 0.06 if high > low else 2.0
            self.low, self.high = low / margin, high * margin
            self.ticks = log_ticks(self.low, self.high)
        else:
            margin = 0.05 * (high - low) or abs(high) or 1.0
            self.low = 0.0 if 0.0 <= low < 0.3 * high else low - margin
            self.high = high + margin
            self.ticks = linear_ticks(self.low, self.high)

    def place(self, value):
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)


def mark(kind, x, y, color):
    if kind == "circle":
        return f'<circle cx="{number(x)}" cy="{number(y)}" r="3.2" fill="{color}"/>'
    corners = {"square": [(-3, -3), (3, -3), (3, 3), (-3, 3)], "triangle": [(0, -4), (4, 3), (-4, 3)],
               "diamond": [(0, -4.4), (4.4, 0), (0, 4.4), (-4.4, 0)]}[kind]
    points = " ".join(f"{number(x + a)},{number(y + b)}" for a, b in corners)
    return f'<polygon points="{points}" fill="{color}"/>'


def text(x, y, content, anchor="middle", more=""):
    content = content.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"{more}>{content}</text>'


def frame(plot, horizontal, vertical, right):
    """Grid, numbers at the axes, labels."""
    bottom = HEIGHT - BOTTOM
    lines = []
    for tick in horizontal.ticks:
        x = number(horizontal.place(tick))
        lines.append(f'<path d="M{x} {TOP}V{bottom}" stroke="#e4e4e4"/>')
        lines.append(text(horizontal.place(tick), bottom + 17, f"{tick:.6g}"))
    for tick in vertical.ticks:
        y = number(vertical.place(tick))
        lines.append(f'<path d="M{LEFT} {y}H{number(right)}" stroke="#e4e4e4"/>')
        lines.append(text(LEFT - 7, vertical.place(tick) + 4, f"{tick:.6g}", "end"))
    lines.append(f'<rect x="{LEFT}" y="{TOP}" width="{number(right - LEFT)}" '
                 f'height="{bottom - TOP}" fill="none" stroke="#888"/>')
    middle = (TOP + bottom) / 2
    lines.append(text((LEFT + right) / 2, HEIGHT - 14, plot["x"]))
    lines.append(text(16, middle, plot["y"], more=f' transform="rotate(-90 16 {number(middle)})"'))
    return lines


def curve(series, index, horizontal, vertical):
    """A series, and what stands for it in the legend at (0, 0)."""
    style = series["style"]
    color = "#111" if style == "theory" else COLORS[index % len(COLORS)]
    kind = MARKS[index // len(COLORS) % len(MARKS) if style == "line" else index % len(MARKS)]
    points = [(horizontal.place(x), vertical.place(y)) for x, y in zip(series["x"], series["y"])]
    lines, sample = [], []
    if style != "points":
        width = "1.2" if style == "theory" else "1.8"
        way = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        look = f'fill="none" stroke="{color}" stroke-width="{width}"'
        lines.append(f'<polyline points="{way}" {look}/>')
        sample.append(f'<path d="M0 0H22" {look}/>')
    if style in ("points", "both"):
        lines += [mark(kind, x, y, color) for x, y in points]
        sample.append(mark(kind, 11, 0, color))
    return lines, sample


def svg(plot):
    drawn = [s for s in plot["series"] if s["x"]]
    longest = max(len(s["name"]) for s in drawn)
    right = WIDTH - 16
    total = WIDTH + 42 + 6.6 * longest
    horizontal = Axis([x for s in drawn for x in s["x"]], plot["log"], LEFT, right)
    vertical = Axis([y for s in drawn for y in s["y"]], plot["log"], HEIGHT - BOTTOM, TOP)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(total)} {HEIGHT}" '
             f'width="{number(total)}" height="{HEIGHT}" font-family="sans-serif" font-size="12.5" fill="#222">',
             f'<rect width="{number(total)}" height="{HEIGHT}" fill="#fff"/>']
    lines += frame(plot, horizontal, vertical, right)
    index = 0
    for k, series in enumerate(drawn):
        shape, sample = curve(series, index, horizontal, vertical)
        index += series["style"] != "theory"
        y = TOP + 12 + 19 * k
        lines += shape
        lines.append(f'<g transform="translate({right + 14} {y})">{"".join(sample)}'
                     f'{text(30, 4, series["name"], "start")}</g>')
    return "\n".join(lines + ["</svg>"]) + "\n"
