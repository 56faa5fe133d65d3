"""Launchers that frameworks other than PyTorch bring or expect.

Contracts: "Multi-worker training with Keras" of TensorFlow (TF_CONFIG); `paddle.distributed.launch` of PaddlePaddle;
"Dynamic Cluster Startup" of MindSpore.
"""

import json

from apps.training.launchers.base import (
    GANG,
    INSIDE,
    LOGS,
    PORT,
    PYTHON,
    TEMPORARY,
    Argv,
    Team,
    numbered,
    python_script,
)
from apps.workloads.spec import RankStart


def tensorflow(team: Team, program: Argv) -> tuple[RankStart, ...]:
    """One worker for each member, which uses all of its cards."""
    workers = [f"{name}:{PORT + rank}" for rank, name in enumerate(team.names)]

    def config(rank: int) -> str:
        return json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}})

    return tuple(RankStart(program, {"TF_CONFIG": config(rank)}) for rank in range(team.members))


def paddle(team: Team, program: Argv) -> tuple[RankStart, ...]:
    """It takes a member for the master by its address alone, and none of its own for a name.

    Beside its logs it writes all variables, secrets among them, so these are not kept: it prints what the first worker
    prints, and what one that failed has printed. Of gloo it tells its workers on one node alone.
    """
    env = {} if team.cards else {"PADDLE_DISTRI_BACKEND": "gloo"}

    def start(rank: int) -> RankStart:
        argv = (
            *(*GANG, "become", *PYTHON, "-m", "paddle.distributed.launch"),
            f"--master={{first}}:{PORT}",
            f"--nnodes={team.members}",
            f"--rank={rank}",
            f"--nproc_per_node={team.workers}",
            "--host={address}",
            f"--log_dir={TEMPORARY}/paddle",
            "--",
            *(python_script(program) or program),
        )
        return RankStart(argv, env)

    return tuple(start(rank) for rank in range(team.members))


def mindspore(team: Team, program: Argv) -> tuple[RankStart, ...]:
    """A worker for each card, and its scheduler beside those of rank 0."""
    words = (str(team.members), str(team.workers), str(PORT), LOGS)
    argv = (*("python", "-I", "-S", f"{INSIDE}/msrun.py"), *words, *program)
    return numbered(team, lambda rank: argv)
