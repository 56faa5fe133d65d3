"""The order in which steps stand: after what they need."""

from collections.abc import Mapping, Sequence

from apps.pipelines.graph.steps import Graph, Step


def levels(steps: Sequence[Step]) -> dict[str, int]:
    """By name, the length of the longest way to it from a step that needs none. Steps on a cycle are missing, and so
    is whatever stands after them; needs of unknown steps count as none."""
    known = {each.name for each in steps}
    found: dict[str, int] = {}
    waiting = list(steps)
    while waiting:
        ready = [each for each in waiting if all(need.step in found or need.step not in known for need in each.needs)]
        if not ready:
            break
        found |= {
            each.name: max((found[need.step] + 1 for need in each.needs if need.step in found), default=0)
            for each in ready
        }
        waiting = [each for each in waiting if each.name not in found]
    return found


def ordered(graph: Graph) -> list[Step]:
    """Each after all that it needs; as written where neither needs the other. The graph has to be free of faults."""
    level = levels(graph.steps)
    return sorted(graph.steps, key=lambda each: level[each.name])


def followers(graph: Graph, name: str) -> frozenset[str]:
    """All steps that need this one, directly or through others."""
    found = {name}
    for each in ordered(graph):
        if any(need.step in found for need in each.needs):
            found.add(each.name)
    return frozenset(found - {name})


def cycle(steps: Sequence[Step]) -> list[str]:
    """The names along one cycle, its first at the end again; empty where there is none."""
    off = levels(steps)
    needed: Mapping[str, list[str]] = {
        each.name: [need.step for need in each.needs] for each in steps if each.name not in off
    }
    if not needed:
        return []
    way = [next(iter(needed))]
    while way[-1] not in way[:-1]:
        way.append(next(name for name in needed[way[-1]] if name in needed))
    start = way.index(way[-1])
    return way[start:][::-1]
