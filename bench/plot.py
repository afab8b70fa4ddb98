"""A cost curve as a small SVG: lines over the size of the history, both axes in powers of ten, text that can be read
in light and dark."""

import math
from collections.abc import Mapping, Sequence

_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 170, 34, 42
_COLOURS = ("#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed")


def curve(title: str, across: str, up: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Each line is (x, y) pairs above 0, in order."""
    points = [point for line in lines.values() for point in line]
    xs, ys = _range([x for x, _ in points]), _range([y for _, y in points])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}">',
        '<g font-family="sans-serif" font-size="12" fill="#6b7280">',
        f'<text x="{_LEFT}" y="18" font-size="14" font-weight="bold">{title}</text>',
        f'<text x="{_place_x(xs[1], xs):.0f}" y="{_HEIGHT - 8}" text-anchor="end">{across}</text>',
        f'<text x="8" y="{_TOP - 2}">{up}</text>',
    ]
    for tick in _ticks(ys):
        y = _place_y(tick, ys)
        parts.append(
            f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="#6b7280" opacity=".25"/>'
        )
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in sorted({x for x, _ in points}):
        x = _place_x(tick, xs)
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 24}" text-anchor="middle">{_rounded(tick):,}</text>')
    for number, (name, line) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [(_place_x(x, xs), _place_y(y, ys)) for x, y in line]
        parts.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="'
            + " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            + '"/>'
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        parts.append(f'<text x="{_WIDTH - _RIGHT + 10}" y="{_TOP + 10 + 18 * number}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</g></svg>"]) + "\n"


def _rounded(value: float) -> int:
    """Three digits say enough below a plot."""
    digits = max(0, len(str(int(value))) - 2)
    return int(round(value, -digits))


def _range(values: Sequence[float]) -> tuple[float, float]:
    least, most = min(values), max(values)
    return least / 1.3, most * 1.3


def _ticks(bounds: tuple[float, float]) -> list[float]:
    powers = range(math.floor(math.log10(bounds[0])), math.ceil(math.log10(bounds[1])) + 1)
    return [step * 10.0**power for power in powers for step in (1, 3) if bounds[0] <= step * 10.0**power <= bounds[1]]


def _place_x(value: float, bounds: tuple[float, float]) -> float:
    share = math.log(value / bounds[0]) / math.log(bounds[1] / bounds[0])
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _place_y(value: float, bounds: tuple[float, float]) -> float:
    share = math.log(value / bounds[0]) / math.log(bounds[1] / bounds[0])
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)
