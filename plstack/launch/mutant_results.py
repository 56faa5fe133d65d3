"""What came of a room of mutants: those that no test noticed with the line that was changed, and what they count for.

A mutant that changes nothing that anybody could notice is *equivalent*: `equivalent_mutants.toml` names it by its
function and its line before and after, with the reason. It counts neither for nor against the tests. An entry to which
no surviving mutant belongs any more fails the room.
"""

import ast
import difflib
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

WANTED = 0.9
# An endless loop is noticed by the time that it takes.
KILLED = frozenset({"killed", "timeout", "segfault", "caught by type check"})
UNTRIED = "not checked"
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed line that survived: `function` is dotted, `was` and `now` are without indentation."""

    name: str
    outcome: str
    function: str
    was: str
    now: str


@dataclass(frozen=True, slots=True)
class Equivalent:
    function: str
    was: str
    now: str
    why: str

    def is_of(self, modules: Sequence[str]) -> bool:
        """Whether the function may be in one of these files."""
        parts = self.function.split(".")
        files = ["/".join(parts[:n]) + ".py" for n in range(1, len(parts))]
        return any(fnmatch(file, pattern) for file in files for pattern in modules)


def equivalents(file: Path = EQUIVALENT) -> list[Equivalent]:
    """The list, one for each changed line."""
    entries = tomllib.loads(file.read_text()).get("equivalent", [])
    return [Equivalent(e["function"], e["was"], now, e["why"]) for e in entries for now in e["now"]]


def survivors(folder: Path, results: Sequence[tuple[str, str]]) -> list[Mutant]:
    """Those of `results` that were tried and not killed, read from the changed sources below `folder`."""
    left = [(name, outcome) for name, outcome in results if outcome not in {*KILLED, UNTRIED}]
    return [_mutant(folder, name, outcome) for name, outcome in left]


def standing(
    folder: Path, before: Sequence[tuple[str, str]], found: Sequence[tuple[str, str]], known: Sequence[Equivalent]
) -> list[str]:
    """The mutants that survived an earlier run and that mutmut let stand in this one, but for equivalent ones.

    Only a change of their function makes mutmut try them again, and there may be tests for them by now.
    """
    keys = {(each.function, each.was, each.now) for each in known}
    survived = {name for name, outcome in before if outcome not in {*KILLED, UNTRIED}}
    left = (mutant for mutant in survivors(folder, found) if mutant.name in survived)
    return [mutant.name for mutant in left if (mutant.function, mutant.was, mutant.now) not in keys]


def summary(
    room: str, results: Sequence[tuple[str, str]], left: Sequence[Mutant], known: Sequence[Equivalent], *, sampled: bool
) -> tuple[str, bool]:
    """What came of a room in words, and whether it is enough. `known`: the equivalent mutants of its modules."""
    tried = Counter(outcome for _name, outcome in results if outcome != UNTRIED)
    if not tried:
        return f"{room}: mutmut tried nothing", False
    keys = {(each.function, each.was, each.now) for each in known}
    noticeable = [mutant for mutant in left if (mutant.function, mutant.was, mutant.now) not in keys]
    found = {(mutant.function, mutant.was, mutant.now) for mutant in left}
    stale = [] if sampled else [each for each in known if (each.function, each.was, each.now) not in found]
    killed = sum(tried[outcome] for outcome in KILLED)
    counted = killed + len(noticeable)
    share = killed / counted if counted else 1.0
    same, untried = len(left) - len(noticeable), len(results) - tried.total()
    late = [name for name, outcome in results if outcome == "timeout"]
    lines = [
        f"{room}: {killed} of {counted} killed, {share:.0%}; {same} equivalent, {untried} not tried",
        *(f"  {name}: its tests came to no end in the time that they were given" for name in late),
        *(f"  {mutant.name}: {mutant.outcome}\n    - {mutant.was}\n    + {mutant.now}" for mutant in noticeable),
        *(f"  no longer there, take it off the list: {each.function}: {each.now}" for each in stale),
    ]
    return "\n".join(lines), share >= WANTED and not stale and (sampled or not untried)


def _mutant(folder: Path, name: str, outcome: str) -> Mutant:
    module, _, mangled = name.rpartition(".")
    base, _, _number = mangled.rpartition("__mutmut_")
    file = folder / Path(*module.split(".")).with_suffix(".py")
    functions = _functions(file if file.exists() else file.with_suffix("") / "__init__.py")
    was, now = _difference(functions[f"{base}__mutmut_orig"], functions[mangled])
    return Mutant(name, outcome, f"{module}.{_plain(base)}", was, now)


def _plain(mangled: str) -> str:
    """`x_release` is `release`, `xǁBookǁrelease` is `Book.release`."""
    return mangled.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")


@cache
def _functions(file: Path) -> Mapping[str, list[str]]:
    """The lines of each function that mutmut wrote, by its mangled name."""
    text = file.read_text()
    lines = text.splitlines()
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {
        node.name: [line.replace(node.name, "") for line in lines[node.lineno - 1 : node.end_lineno]] for node in nodes
    }


def _difference(before: Sequence[str], after: Sequence[str]) -> tuple[str, str]:
    def changed(sign: str) -> Iterator[str]:
        return (line[2:].strip() for line in compared if line.startswith(sign))

    compared = list(difflib.ndiff(before, after))
    return " ".join(changed("- ")), " ".join(changed("+ "))
