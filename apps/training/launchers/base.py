"""What a launcher is: from a team and a program to what each rank starts. Nothing here reads or writes anything."""

from collections.abc import Callable
from dataclasses import dataclass

from apps.training.launchers.names import LauncherName
from apps.workloads.spec import Port, RankStart, Spec

PORT = 29500
"""Of rank 0, or of rank n plus n: members may share a network namespace. They leave the barrier with all ports free."""
FIRST = "m0"
PYTHON = ("python", "-u")
INSIDE = "/opt/plstack"
GANG = ("python", "-I", "-S", f"{INSIDE}/gang.py")
COUNT = "{members}"
"""For the number of members that start, in what `GANG` becomes."""
TEMPORARY = "{temporary}"
"""For the member's own folder of temporary files, likewise."""
# Below the output, so that what each worker prints is kept: some launchers show that of one worker alone.
LOGS = "/workspace/output/logs"


@dataclass(frozen=True, slots=True)
class Team:
    """`members` programs that start together, each with `cards` accelerators or slices, or none.

    `elastic`: there may be fewer of them; how many, is known once they start (`COUNT`). `cores`, `memory_mib`: of each.
    """

    members: int
    cards: int = 0
    elastic: bool = False
    cores: int = 1
    memory_mib: int = 4096

    @classmethod
    def of(cls, spec: Spec) -> "Team":
        cards = 0 if spec.gpu is None else spec.gpu.count
        return cls(spec.members, cards, spec.is_elastic, max(1, spec.cpu_milli // 1000), spec.memory_mib)

    @property
    def workers(self) -> int:
        """Processes of a member: one for each card."""
        return max(1, self.cards)

    @property
    def world(self) -> int:
        return self.members * self.workers

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"m{rank}" for rank in range(self.members))


Argv = tuple[str, ...]
Starts = Callable[[Team, Argv], tuple[RankStart, ...]]


@dataclass(frozen=True, slots=True)
class Launcher:
    """`module`, `program`: what the image must have; `package`: what brings it. `least`: the fewest members."""

    name: LauncherName
    starts: Starts
    module: str = ""
    program: str = ""
    package: str = ""
    least: int = 2
    # Whether it needs `inside/gang.py` at `INSIDE`.
    needs_inside: bool = False
    # Whether what it starts works with fewer members, too.
    elastic: bool = False
    # What it serves for people, such as a dashboard.
    ports: tuple[Port, ...] = ()
    # What it needs beside `package`, and what it prints where the image lacks that.
    needs: tuple[str, str] | None = None


def python_script(program: Argv) -> Argv | None:
    """The script and its arguments, of a program that Python runs."""
    return program[len(PYTHON) :] if program[: len(PYTHON)] == PYTHON else None


def numbered(team: Team, argv_of: Callable[[int], Argv]) -> tuple[RankStart, ...]:
    return tuple(RankStart(argv_of(rank)) for rank in range(team.members))
