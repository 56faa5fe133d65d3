"""What starts a pipeline where nobody is there: new versions of a dataset, and its webhook."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.common.scoping import acting
from apps.pipelines import hooks, services
from apps.pipelines.choices import Cause
from apps.pipelines.models import Pipeline, PipelineRun
from apps.pipelines.reconcile import triggering
from apps.schedules.models import Schedule
from apps.storage import datasets, versions, volumes, working
from apps.storage.choices import RootKind
from apps.storage.choosing import Chosen, chosen_mounts
from apps.storage.models import Dataset, DatasetVersion, Volume
from apps.storage.roots import resolve
from apps.tenants.models import Membership
from tests.builders import platform, signed_in
from tests.pipelines.kit import Bench
from tests.schedules.kit import come, turn
from tests.storage.kit import make_volume, put
from tests.training.kit import submit

pytestmark = pytest.mark.django_db


def runs() -> list[PipelineRun]:
    with acting(platform()):
        return list(PipelineRun.objects.order_by("number"))


def trigger() -> int:
    with acting(platform()):
        return triggering.start_on_datasets()


def add_version(bench: Bench, dataset: Dataset, volume: Volume) -> DatasetVersion:
    with acting(actor := bench.world.actor):
        versions.start(actor, dataset, resolve(actor, RootKind.VOLUME, volume.pk), "", note="")
    with acting(platform()):
        working.run_due_jobs()
    with acting(actor):
        found = datasets.versions(dataset).first()
    assert found is not None
    return found


def test_each_new_version_starts_it_once_and_its_steps_mount_it(bench: Bench) -> None:
    actor = bench.world.actor
    volume = make_volume(actor, size_mib=5)
    put(volumes.root_of(volume), "a.txt", "one")
    with acting(actor):
        dataset = datasets.create(actor, name="digits")
    first = add_version(bench, dataset, volume)
    bench.template = submit(bench.world, mounts=(Chosen(RootKind.VERSION, first.pk),))
    bench.end_run(bench.template)
    bench.create(bench.step("train"), dataset_id=dataset.pk)
    assert (trigger(), runs()) == (0, []), "what was there before starts nothing"
    put(volumes.root_of(volume), "a.txt", "two")
    second = add_version(bench, dataset, volume)
    assert (trigger(), trigger()) == (1, 0)
    (row,) = runs()
    assert (row.cause, row.dataset_version_id) == (Cause.DATASET, second.pk)
    bench.turn(row)
    run = bench.last(row)["train"].run
    assert run is not None
    assert chosen_mounts(run.workload.frozen_spec.mounts) == (Chosen(RootKind.VERSION, second.pk),)


def test_a_version_starts_nothing_for_an_owner_without_the_right(bench: Bench) -> None:
    actor = bench.world.actor
    volume = make_volume(actor, size_mib=5)
    with acting(actor):
        dataset = datasets.create(actor, name="digits")
    put(volumes.root_of(volume), "a.txt", "one")
    bench.create(bench.step("train"), dataset_id=dataset.pk)
    add_version(bench, dataset, volume)
    with acting(platform()):
        Membership.objects.filter(user=bench.world.alice).delete()
    assert (trigger(), runs()) == (0, [])


def call(pipeline: Pipeline, token: str, **body: Any) -> Any:
    url = reverse("api-pipeline-hook", args=[pipeline.pk])
    headers = {"authorization": f"Bearer {token}"}
    return Client(headers=headers).post(url, body, content_type="application/json")


def test_the_webhook_starts_it_once_for_a_key_by_the_newest_token_alone(bench: Bench) -> None:
    pipeline = bench.create(bench.step("a"), parameters={"n": "1"})
    assert call(pipeline, "").status_code == 404
    with acting(actor := bench.world.actor):
        old, token = hooks.rotate(actor, pipeline), hooks.rotate(actor, pipeline)
    assert call(pipeline, old).status_code == 404
    answer = call(pipeline, token, key="build-17", parameters={"n": "2"})
    assert answer.status_code == 202, answer.content
    assert call(pipeline, token, key="build-17").json()["id"] == answer.json()["id"]
    (row,) = runs()
    assert (row.cause, row.parameters, row.owner_id) == (Cause.HOOK, {"n": "2"}, bench.world.alice.pk)
    assert "parameters.x" in call(pipeline, token, parameters={"x": "2"}).json()["fields"]
    with acting(platform()):
        assert token not in str(Pipeline.objects.filter(pk=pipeline.pk).values())
    with acting(actor):
        hooks.revoke(actor, pipeline)
    assert call(pipeline, token).status_code == 404
    assert len(runs()) == 1


def test_the_webhook_is_limited_and_ends_with_the_pipeline(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "STARTS_A_MINUTE", 1)
    monkeypatch.setattr(hooks.time, "time", lambda: 6000.0)
    pipeline = bench.create(bench.step("a"))
    with acting(actor := bench.world.actor):
        token = hooks.rotate(actor, pipeline)
    assert [call(pipeline, token).status_code for _ in range(2)] == [202, 429]
    bench.go(runs()[0])
    with acting(actor):
        services.delete(actor, pipeline)
    assert call(pipeline, token).status_code == 404


def test_the_token_is_shown_once(bench: Bench) -> None:
    pipeline = bench.create(bench.step("a"))
    client = signed_in(bench.world.alice)
    page = client.post(reverse("pipelines:act", args=[pipeline.pk, "hook"])).content.decode()
    token = page.partition('id="hook-token">')[2].partition("<")[0]
    assert call(pipeline, token).status_code == 202
    again = client.get(reverse("pipelines:detail", args=[pipeline.pk])).content.decode()
    assert token not in again
    assert token[-4:] in again


def test_a_moment_starts_it_once_and_again_once_the_last_run_has_ended(bench: Bench) -> None:
    pipeline = bench.create(bench.step("a"))
    client = signed_in(bench.world.alice)
    url = f"{reverse('schedules:new')}?pipeline={pipeline.pk}"
    assert "nightly" in client.get(url).content.decode()
    client.post(url, {"name": "each night", "cron": "0 2 * * *", "overlap": "wait"})
    with acting(platform()):
        schedule = Schedule.objects.get()
    moment = come(schedule)
    turn(moment)
    assert [(row.cause, row.owner_id) for row in runs()] == [(Cause.TIME, bench.world.alice.pk)]
    come(schedule)
    assert len(runs()) == 1, "the last one has not ended"
    bench.go(runs()[0])
    turn()
    assert len(runs()) == 2
    page = client.get(reverse("schedules:detail", args=[schedule.pk])).content.decode()
    assert reverse("pipelines:run", args=[runs()[1].pk]) in page
    assert "each night" in client.get(reverse("pipelines:detail", args=[pipeline.pk])).content.decode()
    assert "Pipeline" in client.get(reverse("schedules:list")).content.decode()
    bench.go(runs()[1])
    with acting(actor := bench.world.actor):
        services.delete(actor, pipeline)
    with acting(platform()):
        assert not Schedule.objects.exists()


def test_replacing_stops_the_pipeline_that_runs(bench: Bench) -> None:
    pipeline = bench.create(bench.step("a"))
    body = {"pipeline": str(pipeline.pk), "name": "often", "cron": "0 2 * * *", "overlap": "replace"}
    client = signed_in(bench.world.alice)
    made = client.post("/api/v1/schedules/", body, content_type="application/json")
    assert (made.status_code, made.json()["pipeline"]) == (201, str(pipeline.pk))
    assert client.post("/api/v1/schedules/", {**body, "run": str(bench.template.pk)}).status_code == 400
    with acting(platform()):
        schedule = Schedule.objects.get()
    come(schedule)
    come(schedule)
    (row,) = runs()
    assert bench.turn(row).status == "stopped"
    turn()
    assert len(runs()) == 2
