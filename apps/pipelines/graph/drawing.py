"""Where the boxes and lines of a graph stand, in units of its drawing."""

from collections import Counter
from dataclasses import dataclass

from apps.pipelines.graph.order import levels
from apps.pipelines.graph.steps import Graph, Need

WIDTH, HEIGHT = 168, 48
GAP_X, GAP_Y = 56, 20
EDGE = 4


@dataclass(frozen=True, slots=True)
class Box:
    name: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Line:
    """From the right of a needed step to the left of who needs it, as the path of an SVG."""

    need: Need
    to: str
    path: str


@dataclass(frozen=True, slots=True)
class Drawing:
    width: int
    height: int
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]


def draw(graph: Graph) -> Drawing:
    """Columns by level, from left to right; within one as they are written."""
    level = levels(graph.steps)
    in_column: Counter[int] = Counter()
    boxes: dict[str, Box] = {}
    for each in graph.steps:
        column = level[each.name]
        x, y = EDGE + column * (WIDTH + GAP_X), EDGE + in_column[column] * (HEIGHT + GAP_Y)
        boxes[each.name] = Box(each.name, x, y)
        in_column[column] += 1
    lines = [
        Line(need, each.name, _path(boxes[need.step], boxes[each.name])) for each in graph.steps for need in each.needs
    ]
    return Drawing(
        width=max(box.x for box in boxes.values()) + WIDTH + EDGE,
        height=max(box.y for box in boxes.values()) + HEIGHT + EDGE,
        boxes=tuple(boxes.values()),
        lines=tuple(lines),
    )


def _path(start: Box, end: Box) -> str:
    x1, y1, x2, y2 = start.x + WIDTH, start.y + HEIGHT // 2, end.x, end.y + HEIGHT // 2
    bend = GAP_X // 2
    return f"M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
