"""The passport of a run: open to its organisation, frozen, and honest about what nobody knows."""

import hashlib
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.clusters.models import Node
from apps.common.scoping import acting
from apps.storage import digests
from apps.storage.models import Folder
from apps.storage.services import root_of
from apps.training import services
from apps.training.models import Run
from apps.workloads.choices import Status
from apps.workloads.models import Attempt
from tests.builders import World, platform
from tests.training.kit import submit, text, url
from tests.workloads.loops import until

SEEDED = "import os; open(os.environ['PLSTACK_OUTPUT'] + '/seed', 'w').write(os.environ['PLSTACK_SEED'])"


def due() -> None:
    with acting(platform()):
        for folder_id, _organisation in list(digests.due_folders()):
            digests.compute(folder_id)


def finished(world: World, **changes: Any) -> Run:
    run = submit(world, **changes)
    with acting(platform()):
        until(run.workload, lambda found: found.status == Status.SUCCEEDED)
        return Run.objects.select_related("workload", "output", "code").get(pk=run.pk)


def api(client: Client, run: Run) -> Any:
    return client.get(f"/api/v1/training/runs/{run.pk}/passport/")


def test_it_opens_for_the_organisation_and_for_nobody_else(
    world: World, alice: Client, bob: Client, frank: Client, charlie: Client
) -> None:
    run = submit(world, name="mine")
    for client, status in ((alice, 200), (bob, 200), (frank, 200), (charlie, 404)):
        assert client.get(url("passport", run)).status_code == status
        assert api(client, run).status_code == status
    assert bob.get(url("detail", run)).status_code == 404


def test_a_colleague_reads_no_value_no_code_and_no_log_and_finds_no_button(
    world: World, alice: Client, bob: Client
) -> None:
    run = submit(world, text="print('the code')", environment=(("TOKEN", "hush-hush"), ("MY_SEED", "4711")))
    own, other = text(alice.get(url("passport", run))), text(bob.get(url("passport", run)))
    assert "hush-hush" in own
    assert "Run again" in own
    assert "TOKEN" in other
    for hidden in ("hush-hush", "4711", "the code", "Run again", "Clone and edit"):
        assert hidden not in other
    assert "hush-hush" not in api(bob, run).content.decode()
    assert api(alice, run).json()["environment"] == [["TOKEN", "hush-hush"], ["MY_SEED", "4711"]]
    assert bob.post(url("rerun", run)).status_code == 404


def test_who_may_clone_runs_it_again_from_there(world: World, alice: Client, dora: Client) -> None:
    run = submit(world)
    for client in (alice, dora):
        page = text(client.get(url("passport", run)))
        assert f'hx-get="{url("ask", run, "rerun")}"' in page
        assert f'href="/training/new/?from={run.pk}"' in page


def test_the_link_of_the_card_is_the_passports(world: World, alice: Client) -> None:
    run = submit(world)
    assert f'{url("passport", run)}"' in text(alice.get(url("detail", run)))


@pytest.mark.programs
def test_it_names_the_machine_as_it_was(world: World, alice: Client) -> None:
    with acting(platform()):
        Node.objects.filter(pk=world.node.pk).update(
            facts={"cpu": "EPYC 9654", "os": "Linux-6.1", "nvidia-driver": "550.54.15", "cuda": "12.4"}
        )
    run = finished(world, text="print(1)")
    with acting(platform()):
        Node.objects.filter(pk=world.node.pk).update(facts={"nvidia-driver": "999"})
        assert Attempt.objects.get().machine_facts["nvidia-driver"] == "550.54.15"
    page = text(alice.get(url("passport", run)))
    for words in ("EPYC 9654", "Linux-6.1", "nvidia-driver 550.54.15", world.node.name):
        assert words in page
    assert "nvidia-driver 999" not in page
    machine = api(alice, run).json()["machine"]
    assert machine["drivers"] == {"nvidia-driver": "550.54.15", "cuda": "12.4"}


def test_before_it_ran_nothing_is_claimed(world: World, alice: Client) -> None:
    run = submit(world)
    found = api(alice, run).json()
    assert (found["machine"], found["output_digest"]) == (None, None)
    assert "It has not run yet." in text(alice.get(url("passport", run)))


@pytest.mark.programs
def test_the_program_is_given_a_seed_that_later_versions_keep(world: World, alice: Client) -> None:
    run = finished(world, text=SEEDED, arguments=(("--seed", "7"),))
    with acting(world.actor):
        again = services.rerun(world.actor, run, key="again")
    seeds = {each["name"]: each for each in api(alice, run).json()["seeds"]}
    assert seeds["--seed"] == {"name": "--seed", "value": "7", "by_platform": False}
    assert seeds["PLSTACK_SEED"]["by_platform"]
    assert (root_of(run.output) / "seed").read_text() == seeds["PLSTACK_SEED"]["value"]
    assert again.workload.frozen_spec.env["PLSTACK_SEED"] == seeds["PLSTACK_SEED"]["value"]
    assert submit(world).workload.frozen_spec.env["PLSTACK_SEED"] != seeds["PLSTACK_SEED"]["value"]
    page = text(alice.get(url("passport", run)))
    assert "are not known" in page


def test_ones_own_hash_seed_wins(world: World) -> None:
    run = submit(world, environment=(("PYTHONHASHSEED", "random"),))
    assert run.workload.frozen_spec.env["PYTHONHASHSEED"] == "random"


@pytest.mark.programs
def test_digests_are_computed_once_after_the_end(world: World, alice: Client) -> None:
    live = submit(world)
    due()
    with acting(platform()):
        assert Folder.objects.get(pk=live.output_id).digest is None
        assert Folder.objects.get(pk=live.code_id).digest is not None
    run = finished(world, text=SEEDED)
    due()
    found = api(alice, run).json()
    whole = hashlib.sha256((root_of(run.output) / "seed").read_bytes()).hexdigest()
    assert found["output_digest"]["sha256"] == hashlib.sha256(f"{whole}  seed\n".encode()).hexdigest()
    assert found["output_digest"]["files"] == 1
    (root_of(run.output) / "seed").write_text("changed")
    due()
    assert api(alice, run).json()["output_digest"] == found["output_digest"]
    assert found["output_digest"]["sha256"] in text(alice.get(url("passport", run)))


def test_the_command_on_the_page_prints_the_digest(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "中文.txt").write_text("1")
    (tmp_path / "B").write_bytes(b"\0\1")
    (tmp_path / "link").symlink_to("B")
    command = "find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum"
    printed = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert digests.tree_digest(tmp_path).sha256 == printed.split()[0]


@pytest.mark.programs
def test_what_is_too_large_gone_or_too_slow_is_said(
    world: World, alice: Client, monkeypatch: pytest.MonkeyPatch, settings: LazySettings
) -> None:
    run = finished(world, text=SEEDED)
    assert digests.tree_digest(root_of(run.output), most_files=0).problem is digests.NoDigest.TOO_LARGE
    assert digests.tree_digest(root_of(run.output), most_bytes=1).problem is digests.NoDigest.TOO_LARGE
    with acting(platform()):
        digests.give_up(run.output_id)
    due()
    assert api(alice, run).json()["output_digest"] == {"sha256": "", "files": 0, "size": 0, "problem": "too_long"}
    assert "longer than half an hour" in text(alice.get(url("passport", run)))


@pytest.mark.programs
def test_an_output_that_is_gone_has_none(world: World, alice: Client) -> None:
    run = finished(world, text=SEEDED)
    root_of(run.output).rename(root_of(run.output).with_name("moved"))
    due()
    assert api(alice, run).json()["output_digest"]["problem"] == "missing"
