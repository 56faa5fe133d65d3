"""Launchers that build a small cluster first: the program runs in rank 0, and the cluster ends with it.

Contracts: `ray start` of "Cluster Management CLI" of Ray; "Spark Standalone Mode" of Spark.
"""

from apps.training.launchers.base import FIRST, GANG, LOGS, Argv, Team
from apps.workloads.spec import Port, RankStart

DASHBOARD = Port("ray", 8265, label="Ray Dashboard", own=True)
RAY = f"{FIRST}:6379"
SPARK_PAGES = Port("spark", 4040, label="Spark UI", own=True)
SPARK = f"{FIRST}:7077"
DEPLOY = "org.apache.spark.deploy"
DAEMON_MIB = 512
"""What the master or a worker of Spark takes beside the program or the executor, and beside its heap of half of it."""
LEAST_HEAP_MIB = 512
"""With less than 450 MiB neither a driver nor an executor of Spark begins."""


def ray(team: Team, program: Argv) -> tuple[RankStart, ...]:
    """The dashboard's agents take any free port, since members may share a network namespace."""
    common = (
        "--node-ip-address={address}",
        f"--num-cpus={team.cores}",
        f"--num-gpus={team.cards}",
        "--dashboard-agent-listen-port=0",
        "--disable-usage-stats",
        "--block",
    )
    head = ("ray", "start", "--head", "--port=6379", "--dashboard-host=127.0.0.1", *common)
    worker = ("ray", "start", f"--address={RAY}", *common)
    env = ({"RAY_ADDRESS": RAY},) * team.members
    return _cluster(program, RAY, (head,), (worker,), env)


def spark(team: Team, program: Argv) -> tuple[RankStart, ...]:
    """Master and driver are in rank 0, in each other one a worker with room for one executor, which takes all of it.

    Java's heap is seven tenths of what is left, since Python's processes live beside it. `spark-submit`, which
    `SparkSession.builder` calls, finds all of it in the environment; what the program sets itself comes first.
    """
    heap = f"{max(LEAST_HEAP_MIB, (team.memory_mib - DAEMON_MIB) * 7 // 10)}m"
    common = {
        "MASTER": f"spark://{SPARK}",
        "SPARK_DAEMON_MEMORY": f"{DAEMON_MIB // 2}m",
        "SPARK_DRIVER_MEMORY": heap,
        "SPARK_EXECUTOR_MEMORY": heap,
        "SPARK_WORKER_CORES": str(team.cores),
        "SPARK_WORKER_MEMORY": heap,
    }
    env = tuple({**common, "SPARK_LOCAL_HOSTNAME": name, "SPARK_WORKER_DIR": f"{LOGS}/{name}"} for name in team.names)
    host, port = SPARK.split(":")
    master = ("spark-class", f"{DEPLOY}.master.Master", "--host", host, "--port", port)
    worker = ("spark-class", f"{DEPLOY}.worker.Worker", f"spark://{SPARK}")
    return _cluster(program, SPARK, (master,), (worker,), env)


def _cluster(
    program: Argv, ready: str, first: tuple[Argv, ...], others: tuple[Argv, ...], env: tuple[dict[str, str], ...]
) -> tuple[RankStart, ...]:
    """`first`, `others`: what runs beside the program in rank 0, and in place of it in the others. `env`: by rank."""
    lead = (*GANG, "lead", str(len(env)), ready, str(len(first)), *_listed(first), *program)
    follow = (*GANG, "follow", ready, str(len(others)), *_listed(others))
    return (RankStart(lead, env[0]), *(RankStart(follow, own) for own in env[1:]))


def _listed(programs: tuple[Argv, ...]) -> Argv:
    return tuple(word for program in programs for word in (*program, "--"))
