"""Runs that are bound to one logical cluster."""

from uuid import uuid4

import pytest
from django.test import Client

from apps.clusters import services as clusters
from apps.clusters.models import LogicalCluster, Zone
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.training.models import Run
from tests.builders import World, make_organisation, platform
from tests.training.kit import form_for, submit, text

NEW = "/training/new/"
API = "/api/v1/training/runs/"


def second_cluster(world: World, zone: Zone | None = None) -> LogicalCluster:
    """Beside the one that has the world's node; it has none."""
    with acting(platform()):
        made: LogicalCluster = LogicalCluster.objects.create(
            zone=zone or world.node.cluster.zone, name=f"reserve-{uuid4().hex[:6]}"
        )
    return made


def test_the_choice_is_there_once_there_is_one(world: World, alice: Client) -> None:
    assert "Logical cluster" not in text(alice.get(NEW))
    made = second_cluster(world)
    assert made.name in text(alice.get(NEW))


def test_a_chosen_cluster_binds_the_run_and_its_next_version(world: World, alice: Client) -> None:
    second_cluster(world)
    here = world.node.cluster
    assert alice.post(NEW, form_for(world, cluster=str(here.pk))).status_code == 302
    with acting(platform()):
        run = Run.objects.latest("created_at")
        assert run.workload.frozen_spec.cluster == str(here.pk)
    assert f'value="{here.pk}" selected' in text(alice.get(f"{NEW}?from={run.pk}"))


def test_the_quote_says_that_a_cluster_without_machines_starts_nothing(world: World, alice: Client) -> None:
    empty = second_cluster(world)
    quote = "/training/quote/"
    assert "has no machine" not in text(alice.post(quote, form_for(world)))
    assert "has no machine" in text(alice.post(quote, form_for(world, cluster=str(empty.pk))))


def test_unknown_and_contradictory_clusters_are_refused(world: World, alice: Client) -> None:
    second_cluster(world)
    assert alice.post(NEW, form_for(world, cluster=str(uuid4()))).status_code == 422
    assert alice.post(NEW, form_for(world, cluster="x")).status_code == 422
    with acting(platform()):
        simulated = Zone.objects.create(name="made up", simulated=True)
    elsewhere = second_cluster(world, simulated)
    data = {
        "name": "digits",
        "image": str(world.image.pk),
        "package": world.package.pk,
        "script": "train.py",
        "text": "print(1)",
        "cluster": str(elsewhere.pk),
    }
    answer = alice.post(API, data, content_type="application/json", headers={"Idempotency-Key": uuid4().hex})
    assert answer.status_code == 400
    assert "cluster" in answer.json()["fields"]
    with acting(platform()):
        assert not Run.objects.exists()


def test_the_api_binds_a_run_to_its_cluster(world: World) -> None:
    run = submit(world, cluster_id=world.node.cluster_id)
    with acting(platform()):
        assert run.workload.frozen_spec.cluster == str(world.node.cluster_id)


def test_a_cluster_of_others_is_neither_shown_nor_taken(world: World, alice: Client) -> None:
    """Reserved for somebody else: in the form, the quote and the API it is as if it did not exist."""
    theirs, public = second_cluster(world), second_cluster(world)
    with acting(platform()):
        clusters.reserve_cluster(platform(), cluster_id=theirs.pk, reserved=True)
        other = make_organisation()
        clusters.give_cluster(platform(), cluster_id=theirs.pk, organisation_id=other.pk)
    shown = text(alice.get(NEW))
    assert public.name in shown
    assert theirs.name not in shown
    assert alice.post(NEW, form_for(world, cluster=str(theirs.pk))).status_code == 422
    assert theirs.name not in text(alice.post("/training/quote/", form_for(world, cluster=str(theirs.pk))))
    asked = {"package_id": world.package.pk, "cluster_id": str(theirs.pk)}
    refused = alice.post("/api/v1/training/quote/", asked, content_type="application/json")
    asked["cluster_id"] = str(uuid4())
    unknown = alice.post("/api/v1/training/quote/", asked, content_type="application/json")
    assert (refused.status_code, refused.json()) == (400, unknown.json())
    with pytest.raises(Invalid):
        submit(world, cluster_id=theirs.pk)
    with acting(platform()):
        assert not Run.objects.exists()
        clusters.give_cluster(platform(), cluster_id=theirs.pk, organisation_id=world.organisation.pk)
    assert theirs.name in text(alice.get(NEW))
    submit(world, cluster_id=theirs.pk)


def test_the_quote_says_that_the_machines_are_for_others(world: World, alice: Client) -> None:
    with acting(platform()):
        clusters.reserve_cluster(platform(), cluster_id=world.node.cluster_id, reserved=True)
    assert "reserved for other organisations" in text(alice.post("/training/quote/", form_for(world)))
