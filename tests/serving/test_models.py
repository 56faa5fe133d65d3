"""Services of versions of models: what a replica finds, what is refused, and what keeps a version from deletion."""

import ast
import json
import shlex
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.modelhub import services as models
from apps.modelhub.choices import Format
from apps.modelhub.models import ModelVersion
from apps.registry.models import Image
from apps.registry.platform_images import ensure_platform_images
from apps.serving import services
from apps.serving.choices import DeploymentStatus
from apps.serving.drafts import check_script
from apps.serving.example_bodies import as_text, body_for
from apps.serving.models import Service
from apps.serving.program import MODEL
from apps.serving.snippets import for_service
from apps.serving.starters import script_for, starter_of
from apps.serving.suited import best, lacking
from apps.workloads.models import Workload
from tests.builders import World, actor_of, make_member, platform, signed_in
from tests.modelhub.formats import onnx
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
        assert spec.env == {"PLSTACK_MODEL": MODEL, "ORT_DISABLE_TELEMETRY": "1"}


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


class TestImages:
    """Runtimes list their packages, so that nobody has to guess which one has what the script imports."""

    @pytest.fixture
    def images(self, world: World) -> dict[str, Image]:
        with acting(platform()):
            ensure_platform_images()
            return {each.key: each for each in Image.objects.all()}

    def test_each_format_with_a_script_of_its_own_has_an_image(
        self, images: dict[str, Image], version: ModelVersion
    ) -> None:
        for kind in Format:
            version.format = kind
            found = best(images.values(), version)
            assert (found is None) == (not starter_of(version).needs), kind
            assert found is None or not lacking(found, version)

    @pytest.fixture
    def network(self, world: World) -> ModelVersion:
        return make_version(world.actor, make_model(world.actor), volume_with(world.actor, {"m.onnx": onnx(400)}))

    def test_what_it_lacks_is_named_by_one_of_its_names(self, images: dict[str, Image], network: ModelVersion) -> None:
        assert lacking(images["sklearn-1-9"], network) == ("onnxruntime",)
        assert lacking(images["onnxruntime-1-31-cuda"], network) == (), "onnxruntime-gpu brings it, too"
        container = Image(reference="example.org/any:1")
        assert lacking(container, network) == ()
        assert best([container], network) is None

    def test_the_form_begins_with_it_and_says_what_another_one_lacks(
        self, world: World, images: dict[str, Image], network: ModelVersion
    ) -> None:
        client, wanted = signed_in(world.alice), best(images.values(), network)
        assert wanted is not None
        form = client.get(f"{reverse('serving:new')}?model={network.pk}").content.decode()
        assert f'value="{wanted.pk}" checked' in form
        assert "does not list" not in form
        asked = {"runtime": "script", "model": str(network.pk), "image": str(images["sklearn-1-9"].pk)}
        card = client.post(reverse("serving:quote"), asked).content.decode()
        assert "The image does not list onnxruntime" in card
        assert f'data-fill="image-{wanted.pk}"' in card
        assert f'id="image-{wanted.pk}"' in form
        for changes in ({"image": str(wanted.pk)}, {"runtime": "command"}, {"model": "nonsense"}, {"image": "x"}):
            assert "does not list" not in client.post(reverse("serving:quote"), asked | changes).content.decode()


SHAPES = st.lists(st.integers(-1, 300), max_size=4)
TENSORS = st.fixed_dictionaries(
    {"name": st.text(max_size=20), "datatype": st.sampled_from(["FP32", "INT64", "BOOL", "BYTES"]), "shape": SHAPES}
)


@given(st.lists(TENSORS, max_size=4, unique_by=lambda each: each["name"]), st.integers(0, 10**6))
def test_an_example_names_every_input_and_never_fills_a_page(inputs: list[dict[str, Any]], features: int) -> None:
    facts = {"features": features} if features else {}
    body = body_for(ModelVersion(signature={"inputs": inputs} if inputs else {}, facts=facts))
    assert set(body) == {each["name"] for each in inputs} if inputs else {"inputs"}
    assert len(as_text(body)) < 4000 * max(1, len(inputs))
    for each in inputs:
        sizes = [abs(size) for size in each["shape"]]
        assert body[each["name"]] == [] or shape_of(body[each["name"]]) == sizes
    service = Service(host="a")
    curl, python, javascript = (one.text for one in for_service(service, body))
    assert json.loads(shlex.split(curl)[-1]) == body
    assert ast.literal_eval(python.partition("json.dumps(")[2].partition(").encode()")[0]) == body
    assert as_text(body) in javascript


def shape_of(value: Any) -> list[int]:
    return [len(value), *(shape_of(value[0]) if value else [])] if isinstance(value, list) else []


def test_the_next_version_begins_with_the_model_of_the_last(world: World, version: ModelVersion) -> None:
    service = make_service(world, model_id=version.pk)
    page = signed_in(world.alice).get(reverse("serving:update", args=[service.pk])).content.decode()
    assert f'value="{version.pk}" selected' in page
