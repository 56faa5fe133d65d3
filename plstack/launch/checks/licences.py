"""docs/licences.md: what the licences of everything in the locks ask, from the packages' own metadata; offline."""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

from plstack.launch.checks.catalogue import ROOT
from plstack.launch.checks.licence_rules import (
    ALLOWED,
    ASKS,
    CLASSIFIERS,
    DEVELOPMENT_ONLY,
    RULINGS,
    SPELLINGS,
)

PAGE = "docs/licences.md"
# Where a package is needed, by the lock that has it; the first that names it counts.
USES = {
    "deploy/locks/quickstart.txt": "platform",
    "requirements.txt": "server",
    "deploy/locks/dev.txt": "development",
    "deploy/locks/node.txt": "VS Code's runtime",
    "deploy/locks/installer.txt": "installation",
    "deploy/locks/mutants.txt": "mutation tests",
}
FRONT_END = "front end"
DEVELOPMENT = ("development", "mutation tests")
ROW = re.compile(r"^\| (?P<name>[^|]+) \| (?P<licence>[^|]+) \| (?P<use>[^|]+) \|$", re.MULTILINE)
INTRODUCTION = """\
# Licences of the dependencies

Every package in the locks with its licence, as its own metadata states it, and where it is needed: by the platform, on
a server only, for development, or in the front end that is built into `static/dist`. `make licences` writes this page;
`make check` fails when it is stale or when a licence is unknown or not among those in
`plstack/launch/checks/licence_rules.py`, which also records the decisions for packages whose metadata is unclear.

Not listed: what an environment or a runtime installs for its user from a package index (JupyterLab, VS Code, PyTorch
and so on), and the operating system's own packages. PLStack does not distribute these.

## What they ask
"""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A package of the locks. `licence` is an SPDX expression; None: not known."""

    name: str
    use: str
    licence: str | None


def main(write: bool) -> int:
    path = ROOT / PAGE
    kept = path.read_text() if path.exists() else ""
    found = [*python(ROOT, installed(), kept), *front_end(ROOT)]
    problems = list(refusals(found))
    page = page_of(found)
    if write and not problems:
        path.write_text(page)
    elif page != kept:
        problems.append(f"{PAGE} is stale: make licences")
    print("\n".join(problems))
    return 1 if problems else 0


def installed() -> dict[str, str | None]:
    """The licence of each distribution of this environment, by its normalised name."""
    return {normal(each.metadata["Name"]): stated(each) for each in distributions()}


def stated(distribution: Distribution) -> str | None:
    """What a distribution's metadata says, as an SPDX expression; None where it is unclear."""

    def field(name: str) -> list[str]:
        return distribution.metadata.get_all(name) or []

    for expression in field("License-Expression"):
        return expression
    for text in field("License"):
        if text.strip() in SPELLINGS:
            return SPELLINGS[text.strip()]
    classifiers = {line.rpartition(" :: ")[2] for line in field("Classifier") if "License ::" in line}
    return CLASSIFIERS.get(classifiers.pop()) if len(classifiers) == 1 else None


def python(root: Path, known: dict[str, str | None], page: str) -> Iterator[Dependency]:
    """Packages of the Python locks. What this machine has no need of stands as the page has it."""
    before = {row["name"]: row["licence"] for row in ROW.finditer(page)}
    uses: dict[str, str] = {}
    for lock, use in USES.items():
        for name in re.findall(r"^([A-Za-z0-9][\w.-]*)==", (root / lock).read_text(), re.MULTILINE):
            uses.setdefault(normal(name), use)
    for name, use in sorted(uses.items()):
        says = known[name] if name in known else before.get(name)
        yield Dependency(name, use, RULINGS.get(name) or says)


def front_end(root: Path) -> Iterator[Dependency]:
    """Packages of package-lock.json, which names the licence of each."""
    packages = json.loads((root / "package-lock.json").read_text())["packages"]
    names = {path.rpartition("node_modules/")[2]: entry.get("license") for path, entry in packages.items() if path}
    for name, licence in sorted(names.items()):
        yield Dependency(name, FRONT_END, RULINGS.get(name) or licence)


def refusals(found: list[Dependency]) -> Iterator[str]:
    """What keeps the page from being written: unknown licences, and those that are not allowed for that use."""
    for each in found:
        allowed = ALLOWED | (DEVELOPMENT_ONLY if each.use in DEVELOPMENT else frozenset())
        if each.licence is None:
            yield f"{each.name}: its licence is not known; read it and add it to RULINGS"
        elif not may_be_used(each.licence, allowed):
            yield f"{each.name}: {each.licence} is not among the licences allowed for {each.use}"


def may_be_used(expression: str, allowed: frozenset[str]) -> bool:
    """Whether one side of each OR is allowed in all of its parts. Expressions nest no further here."""
    alternatives = expression.replace("(", "").replace(")", "").split(" OR ")
    return any(all(part.strip() in allowed for part in each.split(" AND ")) for each in alternatives)


def page_of(found: list[Dependency]) -> str:
    asked = "".join(f"- **{family}**: {asks}\n" for family, asks in ASKS.items())
    rows = "".join(f"| {each.name} | {each.licence} | {each.use} |\n" for each in found)
    return f"{INTRODUCTION}\n{asked}\n## Packages\n\n| package | licence | needed by |\n|---|---|---|\n{rows}"


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["write"]))
