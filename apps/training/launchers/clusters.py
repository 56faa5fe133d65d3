"""Launchers that build a small cluster first: the program runs in rank 0, and the cluster ends with it.

Contracts: `ray start` of "Cluster Management CLI" of Ray.
"""

from apps.training.launchers.base import FIRST, GANG, Argv, Team
from apps.workloads.spec import Port, RankStart

DASHBOARD = Port("ray", 8265, label="Ray Dashboard", own=True)
RAY = f"{FIRST}:6379"


def ray(team: Team, program: Argv) -> tuple[RankStart, ...]:
    """The dashboard's agents take any free port, since members may share a network namespace."""
    common = (
        "--node-ip-address={address}",
        f"--num-gpus={team.cards}",
        "--dashboard-agent-listen-port=0",
        "--disable-usage-stats",
        "--block",
    )
    head = ("ray", "start", "--head", "--port=6379", "--dashboard-host=127.0.0.1", *common)
    worker = ("ray", "start", f"--address={RAY}", *common)
    env = ({"RAY_ADDRESS": RAY},) * team.members
    return _cluster(program, RAY, (head,), (worker,), env)


def _cluster(
    program: Argv, ready: str, first: tuple[Argv, ...], others: tuple[Argv, ...], env: tuple[dict[str, str], ...]
) -> tuple[RankStart, ...]:
    """`first`, `others`: what runs beside the program in rank 0, and in place of it in the others. `env`: by rank."""
    lead = (*GANG, "lead", str(len(env)), ready, str(len(first)), *_listed(first), *program)
    follow = (*GANG, "follow", ready, str(len(others)), *_listed(others))
    return (RankStart(lead, env[0]), *(RankStart(follow, own) for own in env[1:]))


def _listed(programs: tuple[Argv, ...]) -> Argv:
    return tuple(word for program in programs for word in (*program, "--"))
