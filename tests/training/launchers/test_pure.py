"""Every launcher gives every rank one start, and all ranks agree on where they meet and how many they are."""

import json
import re
import socket
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.common.errors import Invalid
from apps.training.launchers.base import COUNT, GANG, TEMPORARY, Argv, Team
from apps.training.launchers.clusters import LEAST_HEAP_MIB
from apps.training.launchers.inside import msrun
from apps.training.launchers.inside.gang import addressed
from apps.training.launchers.names import LauncherName
from apps.training.launchers.registry import ELASTIC, LAUNCHERS
from apps.training.launchers.starting import SHOWN, preview, with_launcher
from apps.workloads.spec import MOST_MEMBERS, Image, RankStart, Spec
from tests.searching import examples

WORD = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12)
TEAMS = st.builds(
    Team,
    st.integers(2, MOST_MEMBERS),
    st.integers(0, 8),
    cores=st.integers(1, 256),
    memory_mib=st.integers(256, 2_000_000),
)
ELASTIC_TEAMS = st.builds(Team, st.integers(2, MOST_MEMBERS), st.integers(0, 8), st.just(True))
PROGRAMS = st.builds(
    lambda head, words: (*head, *words),
    st.sampled_from([("python", "-u", "train.py"), ("bash", "train.sh")]),
    st.lists(WORD, max_size=4),
)
FOLLOW = (*GANG, "follow")
NAMES = st.sampled_from(LauncherName)
BY_RANK = re.compile(r"^--(node-rank|machine_rank|node_rank|rank)=(\d+)$")
OWN = re.compile(r"^--(local-addr|host|log_dir|rdzv-conf)=")


@pytest.fixture(autouse=True)
def named_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostbyname", {"m0": "10.0.0.1", "m1": "10.0.0.2"}.__getitem__)


@settings(max_examples=examples(200))
@given(NAMES, TEAMS, PROGRAMS)
def test_every_rank_gets_one_start_with_the_words_of_the_program_unchanged(
    name: LauncherName, team: Team, program: Argv
) -> None:
    starts = LAUNCHERS[name].starts(team, program)
    assert len(starts) == team.members
    assert starts == LAUNCHERS[name].starts(team, program)
    for start in starts:
        assert all(isinstance(word, str) for word in (*start.argv, *start.env, *start.env.values()))
        assert not {"sh", "/bin/sh", "-c"} & set(start.argv) - set(program), "no shell reads what a person typed"
    for start in starts if starts[1].argv[: len(FOLLOW)] != FOLLOW else starts[:1]:
        assert start.argv[-len(program[2:]) :] == program[2:] or program[0] == "bash"
        assert start.argv[-len(program[1:]) :] == program[1:] or program[0] == "python"


@settings(max_examples=examples(200))
@given(NAMES, TEAMS, PROGRAMS)
def test_ranks_differ_in_their_own_numbers_alone(name: LauncherName, team: Team, program: Argv) -> None:
    starts = LAUNCHERS[name].starts(team, program)
    common = {tuple(word for word in start.argv if not (BY_RANK.match(word) or OWN.match(word))) for start in starts}
    if starts[1].argv[: len(FOLLOW)] == FOLLOW:
        assert len({start.argv for start in starts[1:]}) == 1
    else:
        assert len(common) == 1
    numbers = [[int(found[2]) for word in start.argv if (found := BY_RANK.match(word))] for start in starts]
    assert numbers in ([[rank] for rank in range(team.members)], [[] for _start in starts])


@settings(max_examples=examples(100))
@given(TEAMS)
def test_the_size_of_the_world_is_all_workers_of_all_members(team: Team) -> None:
    program = ("python", "-u", "train.py")
    words = {name: LAUNCHERS[name].starts(team, program)[0].argv for name in LauncherName}
    assert f"--nnodes={team.members}" in words[LauncherName.TORCHRUN]
    assert f"--nproc-per-node={max(1, team.cards)}" in words[LauncherName.TORCHRUN]
    assert f"--num_processes={team.world}" in words[LauncherName.ACCELERATE]
    mpirun = words[LauncherName.OPENMPI]
    assert mpirun[mpirun.index("-np") + 1] == str(team.world)
    hosts = mpirun[mpirun.index("--host") + 1].split(",")
    assert hosts == [f"{name}:{team.workers}" for name in ("localhost", *team.names[1:])]


@settings(max_examples=examples(100))
@given(st.sampled_from(ELASTIC), ELASTIC_TEAMS, PROGRAMS, st.data())
def test_what_an_elastic_rank_starts_does_not_depend_on_how_many_there_are(
    name: LauncherName, team: Team, program: Argv, data: st.DataObject
) -> None:
    """So the starts of the first few ranks of all are those of an attempt of a few."""
    fewer = replace(team, members=data.draw(st.integers(1, team.members)))
    assert LAUNCHERS[name].starts(fewer, program) == LAUNCHERS[name].starts(team, program)[: fewer.members]
    assert LAUNCHERS[name].needs_inside or COUNT not in str(LAUNCHERS[name].starts(team, ("python", "-u", "t.py")))


def test_gang_py_puts_the_number_of_members_in_place_of_its_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLSTACK_RANK", "1")
    monkeypatch.setenv("PLSTACK_MEMBERS", "2")
    monkeypatch.setenv("TMPDIR", "/own")
    words = [f"--nnodes={COUNT}", "{first}", "{address}", f"{TEMPORARY}/paddle"]
    assert addressed(words) == ["--nnodes=2", "10.0.0.1", "10.0.0.2", "/own/paddle"]


@settings(max_examples=examples(50))
@given(TEAMS)
def test_what_paddle_writes_beside_its_logs_stays_with_the_member(team: Team) -> None:
    """All variables of the environment, secrets among them: the output is open to colleagues."""
    starts = LAUNCHERS[LauncherName.PADDLE].starts(team, ("python", "-u", "train.py"))
    assert not any("/workspace/output" in word for start in starts for word in start.argv)
    assert {start.env.get("PADDLE_DISTRI_BACKEND") for start in starts} == {None if team.cards else "gloo"}


@pytest.mark.parametrize("name", [name for name in LauncherName if name not in ELASTIC])
def test_a_launcher_that_starts_with_all_takes_no_least_number(name: LauncherName) -> None:
    spec = Spec(Image("python"), ("python", "-u", "train.py"), 1000, 512, members=3, least_members=2)
    with pytest.raises(Invalid) as refused:
        with_launcher(spec, name)
    assert set(refused.value.fields) == {"least_members"}
    assert with_launcher(replace(spec, least_members=3), name).ranks, "as many as all is no less"


@settings(max_examples=examples(100))
@given(TEAMS)
def test_tensorflow_knows_all_workers_by_addresses_of_their_own(team: Team) -> None:
    starts = LAUNCHERS[LauncherName.TENSORFLOW].starts(team, ("python", "-u", "train.py"))
    configs = [json.loads(start.env["TF_CONFIG"]) for start in starts]
    (workers,) = {tuple(config["cluster"]["worker"]) for config in configs}
    assert len({worker.rpartition(":")[2] for worker in workers}) == team.members, "members may share one network"
    assert [config["task"] for config in configs] == [{"type": "worker", "index": n} for n in range(team.members)]


@settings(max_examples=examples(100))
@given(TEAMS)
def test_ray_and_spark_are_told_the_size_of_a_member_and_not_that_of_its_machine(team: Team) -> None:
    program = ("python", "-u", "train.py")
    for start in LAUNCHERS[LauncherName.RAY].starts(team, program):
        assert {f"--num-cpus={team.cores}", f"--num-gpus={team.cards}"} <= set(start.argv)
    for rank, start in enumerate(LAUNCHERS[LauncherName.SPARK].starts(team, program)):
        heap, daemon = int(start.env["SPARK_EXECUTOR_MEMORY"][:-1]), int(start.env["SPARK_DAEMON_MEMORY"][:-1])
        assert start.env["SPARK_WORKER_MEMORY"] == start.env["SPARK_DRIVER_MEMORY"] == f"{heap}m"
        assert heap + daemon < team.memory_mib or heap == LEAST_HEAP_MIB, "Python has its part"
        assert start.env["SPARK_WORKER_CORES"] == str(team.cores)
        assert start.env["SPARK_LOCAL_HOSTNAME"] == f"m{rank}", "members may share one network"


def test_sparks_master_and_driver_are_in_rank_0_and_a_worker_in_each_other_one() -> None:
    first, *others = LAUNCHERS[LauncherName.SPARK].starts(Team(3), ("python", "-u", "train.py"))
    assert [sum("master.Master" in word for word in start.argv) for start in (first, *others)] == [1, 0, 0]
    assert [sum("worker.Worker" in word for word in start.argv) for start in (first, *others)] == [0, 1, 1]
    assert first.argv[-3:] == ("python", "-u", "train.py")
    assert {start.env["MASTER"] for start in (first, *others)} == {"spark://m0:7077"}
    assert all("spark://m0:7077" in start.argv for start in others)


@settings(max_examples=examples(100))
@given(TEAMS, PROGRAMS)
def test_all_workers_of_mindspore_have_one_number_each_and_one_scheduler(team: Team, program: Argv) -> None:
    starts = LAUNCHERS[LauncherName.MINDSPORE].starts(team, program)
    members, count, port, _logs = starts[0].argv[4:8]
    every = [msrun.workers(rank, int(members), int(count), port) for rank in range(team.members)]
    assert [start.argv[8:] for start in starts] == [program] * team.members
    roles = [[each["MS_ROLE"] for each in own] for own in every]
    assert roles == [["MS_SCHED"] * (rank == 0) + ["MS_WORKER"] * team.workers for rank in range(team.members)]
    numbers = [int(each["MS_NODE_ID"]) for own in every for each in own if each["MS_ROLE"] == "MS_WORKER"]
    assert numbers == list(range(team.world))
    assert {each["MS_WORKER_NUM"] for own in every for each in own} == {str(team.world)}
    assert {(each["MS_SCHED_HOST"], each["MS_SCHED_PORT"]) for own in every for each in own} == {("10.0.0.1", port)}


def test_the_preview_shows_few_ranks_of_many() -> None:
    program = ("python", "-u", "train.py")
    shown = preview(LauncherName.TORCHRUN, Team(9), program)
    assert [line for line in shown.splitlines() if re.fullmatch(r"# m\d+", line)] == ["# m0", "# m1", "# m2", "# m8"]
    assert shown.count("--nnodes=9") == SHOWN + 1
    assert preview(LauncherName.TORCHRUN, Team(1), program) == preview(LauncherName.NONE, Team(1), program)


def test_a_spec_keeps_what_its_ranks_start() -> None:
    spec = Spec(Image("python"), ("python", "-u", "train.py"), 1000, 512, members=3)
    given_one = with_launcher(spec, LauncherName.TENSORFLOW)
    again = Spec.from_json(json.loads(json.dumps(given_one.as_json())))
    assert again == given_one
    assert again.start_of(2).env["TF_CONFIG"] == given_one.ranks[2].env["TF_CONFIG"]
    assert spec.start_of(2) == RankStart(spec.argv)
    before = {key: value for key, value in spec.as_json().items() if key != "ranks"}
    assert Spec.from_json(before) == spec
    with pytest.raises(Invalid):
        with_launcher(Spec(Image("python"), ("python",), 1000, 512), LauncherName.TORCHRUN)
