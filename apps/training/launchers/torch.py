"""Launchers of PyTorch programs: each member runs the launcher, which starts a worker for each card.

Contracts: docs.pytorch.org "torchrun (Elastic Launch)"; `accelerate launch --help`.
"""

from apps.training.launchers.base import COUNT, FIRST, GANG, PORT, PYTHON, Argv, Team, numbered, python_script
from apps.workloads.spec import RankStart

MOST_RESTARTS = 3


def torchrun(team: Team, program: Argv) -> tuple[RankStart, ...]:
    def argv(rank: int) -> Argv:
        return (
            *_torchrun(team),
            f"--node-rank={rank}",
            f"--master-addr={FIRST}",
            f"--master-port={PORT}",
            *_script(program, "--no-python"),
        )

    return numbered(team, argv)


def torchrun_elastic(team: Team, program: Argv) -> tuple[RankStart, ...]:
    """A worker that fails is started again with all others, without a new attempt.

    Which member keeps the rendezvous is said, since each would take itself for it where all share a loopback. Of fewer
    members just those of the attempt meet: with torchrun's own range they would wait for the others, and not for one
    that is late.
    """

    def argv(rank: int) -> Argv:
        return (
            *((*GANG, "become") if team.elastic else ()),
            *_torchrun(team),
            "--rdzv-backend=c10d",
            f"--rdzv-endpoint={FIRST}:{PORT}",
            "--rdzv-id=plstack",
            f"--rdzv-conf=is_host={int(rank == 0)}",
            f"--local-addr=m{rank}",
            f"--max-restarts={MOST_RESTARTS}",
            *(("--",) if team.elastic else ()),
            *_script(program, "--no-python"),
        )

    return numbered(team, argv)


def _torchrun(team: Team) -> Argv:
    members = COUNT if team.elastic else team.members
    return (*PYTHON, "-m", "torch.distributed.run", f"--nnodes={members}", f"--nproc-per-node={team.workers}")


def _script(program: Argv, otherwise: str) -> Argv:
    """As PyTorch's launchers take it: a script for Python, or any program behind the option `otherwise`."""
    return python_script(program) or (otherwise, *program)


def accelerate(team: Team, program: Argv) -> tuple[RankStart, ...]:
    """On processors alone it starts one process and leaves the world to the environment."""

    def start(rank: int) -> RankStart:
        argv = (
            *(*PYTHON, "-m", "accelerate.commands.launch"),
            *(("--multi_gpu",) if team.cards else ("--cpu",)),
            f"--num_machines={team.members}",
            f"--num_processes={team.world}",
            f"--machine_rank={rank}",
            f"--main_process_ip={FIRST}",
            f"--main_process_port={PORT}",
            *("--mixed_precision=no", "--dynamo_backend=no"),
            *_script(program, "--no_python"),
        )
        return RankStart(argv, {} if team.cards else _world(team, rank))

    return tuple(start(rank) for rank in range(team.members))


def _world(team: Team, rank: int) -> dict[str, str]:
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(team.members),
        "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": FIRST,
        "MASTER_PORT": str(PORT),
    }
