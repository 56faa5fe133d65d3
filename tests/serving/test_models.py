"""Services of versions of models: what a replica finds, what is refused, and what keeps a version from deletion."""

from uuid import uuid4

import pytest
from django.urls import reverse

from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.modelhub import services as models
from apps.modelhub.choices import Format
from apps.modelhub.models import ModelVersion
from apps.serving import services
from apps.serving.choices import DeploymentStatus
from apps.serving.drafts import check_script
from apps.serving.models import Service
from apps.serving.program import MODEL
from apps.serving.starters import script_for
from apps.workloads.models import Workload
from tests.builders import World, actor_of, make_member, platform, signed_in
from tests.modelhub.kit import make_model, make_version, queue_version, volume_with
from tests.serving.kit import make_service, of

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(world: World) -> ModelVersion:
    return make_version(world.actor, make_model(world.actor), volume_with(world.actor, {"m.onnx": b"not really"}))


def test_each_replica_finds_the_version_read_only_and_is_told_where(world: World, version: ModelVersion) -> None:
    service = make_service(world, model_id=version.pk, wanted=2)
    deployment = of(service, DeploymentStatus.PREPARING)
    assert deployment is not None
    with acting(platform()):
        specs = [each.frozen_spec for each in Workload.objects.filter(replica_set=deployment.replica_set_id)]
    assert len(specs) == 2
    for spec in specs:
        assert [(each.source, each.read_only) for each in spec.mounts if each.target == MODEL] == [
            (version.relative_path, True)
        ]
        assert spec.env["PLSTACK_MODEL"] == MODEL


def test_what_cannot_be_mounted_is_refused_beside_the_field(world: World, version: ModelVersion) -> None:
    coming = queue_version(world.actor, make_model(world.actor, "later"), volume_with(world.actor, {"x": b"1"}, "w2"))
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    for actor, model_id in ((world.actor, coming.pk), (world.actor, uuid4()), (bob, version.pk)):
        with pytest.raises(Invalid) as refused:
            make_service(world, actor=actor, model_id=model_id)
        assert "model" in refused.value.fields
    with acting(platform()):
        assert not Service.objects.exists()


def test_a_version_that_a_service_may_start_again_is_not_deleted(world: World, version: ModelVersion) -> None:
    service = make_service(world, name="digits", model_id=version.pk)
    with acting(world.actor):
        services.stop(world.actor, service.pk)
        with pytest.raises(Conflict) as refused:
            models.delete_version(world.actor, version)
        assert "digits" in refused.value.sentences


@pytest.mark.parametrize("kind", Format)
def test_every_format_has_a_script_that_reads_its_model(version: ModelVersion, kind: Format) -> None:
    version.format = kind
    script = script_for(version)
    check_script(script)
    assert "PLSTACK_MODEL" in script
    assert "{" not in script.split('"""')[1]


def test_the_page_of_a_version_leads_to_a_form_that_is_filled_in(world: World, version: ModelVersion) -> None:
    client = signed_in(world.alice)
    page = client.get(reverse("models:version", args=[version.pk])).content.decode()
    url = f"{reverse('serving:new')}?model={version.pk}"
    assert url in page
    form = client.get(url).content.decode()
    assert f'value="{version.pk}" selected' in form
    assert f"Serves {version}." in form
    assert client.get(f"{reverse('serving:new')}?model=nonsense").status_code == 200


def test_the_next_version_begins_with_the_model_of_the_last(world: World, version: ModelVersion) -> None:
    service = make_service(world, model_id=version.pk)
    page = signed_in(world.alice).get(reverse("serving:update", args=[service.pk])).content.decode()
    assert f'value="{version.pk}" selected' in page
