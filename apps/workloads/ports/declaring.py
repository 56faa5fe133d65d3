"""Ports of one's own as a start asks for them: their form, their limits, and how they become part of a spec."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.workloads.spec import MOST_MEMBERS, Port, Spec

FIELD = "ports"
MOST = 5
LOWEST, HIGHEST = 1024, 65535
LONGEST_NAME, LONGEST_LABEL = 24, 60
# As `gateway.hosts` writes it in front of a host's name.
_NAME = re.compile(r"[a-z](?:[a-z0-9-]{0,22}[a-z0-9])?", re.ASCII)
_LINE = re.compile(r"(?P<name>\S+)\s+(?P<number>[0-9]{1,5})(?:@(?P<rank>[0-9]{1,4}))?(?:\s+(?P<label>\S.*))?", re.ASCII)
# The address of the platform's proxy inside a sandbox: whoever reached that would act in the owner's name outside.
WAY_OUT = 3128


def parse(text: str) -> tuple[Port, ...]:
    """One port a line: its name, its number with `@rank` behind it for another member, what it is. Raises `Invalid`."""
    found = []
    for line in text.splitlines():
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise _wrong(
                _("“%(line)s” is no port. Write a name, a number and what it is, such as: gradio 7860 The demo"),
                line=line.strip()[:80],
            )
        rank, label = int(match["rank"] or 0), (match["label"] or "").strip()
        found.append(Port(match["name"], int(match["number"]), rank, label, own=True))
    return checked(found)


def as_text(ports: Iterable[Port]) -> str:
    """The lines that `parse` reads."""
    return "\n".join(
        f"{port.name} {port.number}{f'@{port.rank}' if port.rank else ''} {port.label}".rstrip() for port in ports
    )


def checked(ports: Sequence[Port], taken: Sequence[Port] = (), members: int = MOST_MEMBERS) -> tuple[Port, ...]:
    """`ports` of work with so many members, where they are well-formed and meet neither each other nor those `taken`.

    Raises `Invalid`.
    """
    if len(ports) > MOST:
        raise _wrong(_("Name %(most)s ports at most."), most=MOST)
    names, places = {port.name for port in taken}, {port.number for port in taken}
    for port in ports:
        _check(port)
        if port.rank >= members:
            raise _wrong(_("There is no member of rank %(rank)s."), rank=port.rank)
        if port.name in names:
            raise _wrong(_("The name %(name)s is taken by another port."), name=port.name)
        if port.number in places:
            raise _wrong(_("The number %(number)s is taken by another port."), number=port.number)
        names.add(port.name)
        places.add(port.number)
    return tuple(ports)


def _check(port: Port) -> None:
    if not _NAME.fullmatch(port.name):
        raise _wrong(
            _("“%(name)s” is no name of a port: up to %(most)s small letters, digits and -, beginning with a letter."),
            name=port.name[:40],
            most=LONGEST_NAME,
        )
    if not LOWEST <= port.number <= HIGHEST or port.number == WAY_OUT:
        words = {"number": port.number, "lowest": LOWEST, "highest": HIGHEST}
        raise _wrong(_("%(number)s cannot be opened: choose a number from %(lowest)s to %(highest)s."), **words)
    if len(port.label) > LONGEST_LABEL or not port.label.isprintable():
        raise _wrong(_("Say in %(most)s letters at most what the port is."), most=LONGEST_LABEL)


def with_own_ports(spec: Spec, ports: Sequence[Port]) -> Spec:
    """The spec with these ports behind those that it has. Raises `Invalid`."""
    return replace(spec, ports=(*spec.ports, *checked(ports, spec.ports, spec.members))) if ports else spec


def own_ports(ports: Iterable[Port]) -> tuple[Port, ...]:
    return tuple(port for port in ports if port.own)


def as_rows(ports: Iterable[Port]) -> list[dict[str, Any]]:
    """For a column of JSON."""
    return [{"name": port.name, "number": port.number, "label": port.label} for port in ports]


def from_rows(rows: Iterable[dict[str, Any]]) -> tuple[Port, ...]:
    return tuple(Port(row["name"], row["number"], row.get("rank", 0), row.get("label", ""), own=True) for row in rows)


def _wrong(text: Any, **words: Any) -> Invalid:
    return Invalid.field(FIELD, text % words)
