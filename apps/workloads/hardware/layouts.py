"""What a MIG card may still be cut into: the places that are free, and whole layouts that could lie on it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from scheduler import MigProfile
from scheduler.mig import span

# Layouts that are drawn; a card has up to a few dozen.
SHOWN = 12


@dataclass(frozen=True, slots=True)
class Held:
    """A partition that lies on the card."""

    profile: str
    start: int


@dataclass(frozen=True, slots=True)
class Offer:
    """A profile with the memory slices at which one more of it could be put now."""

    profile: MigProfile
    free_starts: tuple[int, ...]
    held: int


@dataclass(frozen=True, slots=True)
class Laid:
    """A partition of a layout: where it begins, how wide it is, its profile."""

    start: int
    size: int
    profile: str


Layout = tuple[Laid, ...]


def slices(profiles: Sequence[MigProfile]) -> int:
    """Memory slices of the card."""
    return max((start + p.size for p in profiles for start in p.starts), default=0)


def offers(profiles: Sequence[MigProfile], held: Iterable[Held]) -> list[Offer]:
    """Every profile, smallest first, with what of it is still possible beside what lies there."""
    lying = list(held)
    taken, compute = _taken(profiles, lying)
    found = []
    for profile in sorted(profiles, key=lambda each: (each.size, each.compute, each.name)):
        here = sum(each.profile == profile.name for each in lying)
        room = here < profile.maximum and compute + profile.compute <= _compute(profiles)
        free = tuple(at for at in profile.starts if not taken & span(at, profile.size)) if room else ()
        found.append(Offer(profile, free, here))
    return found


def layouts(profiles: Sequence[MigProfile], held: Iterable[Held] = ()) -> list[Layout]:
    """Ways to fill the card beside what lies there, each with nothing more to add; fewest partitions first.

    Ways that differ only in the order of equal parts count as one. Profiles that differ from another one in nothing
    but media engines are left out: they lie as the others do.
    """
    plain = [profile for profile in profiles if "+" not in profile.name and "-" not in profile.name]
    taken, compute = _taken(profiles, list(held))
    seen: dict[tuple[str, ...], Layout] = {}
    for layout in _fill(plain, 0, taken, compute, _compute(profiles), slices(profiles)):
        seen.setdefault(tuple(sorted(part.profile for part in layout)), layout)
    return sorted((layout for layout in seen.values() if layout), key=lambda found: (len(found), _names(found)))


def _names(layout: Layout) -> list[str]:
    return [part.profile for part in layout]


def _fill(profiles: Sequence[MigProfile], at: int, taken: int, compute: int, most: int, width: int) -> Iterator[Layout]:
    """Every way from memory slice `at` on. A slice is left empty only where nothing that begins there fits."""
    if at >= width:
        yield ()
        return
    fitting = [
        profile
        for profile in profiles
        if at in profile.starts and not taken & span(at, profile.size) and compute + profile.compute <= most
    ]
    for profile in fitting:
        part = Laid(at, profile.size, profile.name)
        mask = taken | span(at, profile.size)
        for rest in _fill(profiles, at + profile.size, mask, compute + profile.compute, most, width):
            if sum(each.profile == profile.name for each in rest) < profile.maximum:
                yield (part, *rest)
    if not fitting:
        yield from _fill(profiles, at + 1, taken, compute, most, width)


def _taken(profiles: Sequence[MigProfile], held: Sequence[Held]) -> tuple[int, int]:
    """The mask of memory slices and the number of compute slices that are in use."""
    by_name = {profile.name: profile for profile in profiles}
    mask = compute = 0
    for each in held:
        profile = by_name.get(each.profile)
        if profile is not None:
            mask |= span(each.start, profile.size)
            compute += profile.compute
    return mask, compute


def _compute(profiles: Sequence[MigProfile]) -> int:
    """Compute slices of the card: as many as its largest profile takes."""
    return max((profile.compute for profile in profiles), default=0)
