"""Launchers on mpirun: rank 0 runs it, the other members wait for it and run what it would start by ssh.

Contract: mpirun(1) of Open MPI 4 and 5.
"""

from apps.training.launchers.base import GANG, Argv, Team
from apps.workloads.spec import RankStart

# Members may run as root of their own sandbox, which mpirun refuses unless it is told twice.
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def openmpi(team: Team, program: Argv) -> tuple[RankStart, ...]:
    """Rank 0 is `localhost`, where mpirun needs no agent. Processes are bound to no core: those are the platform's."""
    hosts = ",".join(f"{name}:{team.workers}" for name in ("localhost", *team.names[1:]))
    argv = (
        *(*GANG, "lead", str(team.members), "-", "0"),
        *("mpirun", "--host", hosts, "-np", str(team.world), "--bind-to", "none"),
        *("--mca", "plm_rsh_no_tree_spawn", "1", "--leave-session-attached"),
        *program,
    )
    others = (RankStart((*GANG, "follow", "-", "0"), ROOT) for _name in team.names[1:])
    return (RankStart(argv, ROOT), *others)
