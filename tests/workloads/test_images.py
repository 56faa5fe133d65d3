"""What a workload's programs come from: a runtime, or a container image that is pinned by its digest."""

from dataclasses import replace

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.workloads import faults
from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.drivers.base import PULL_CREDENTIAL, Isolation, IsolationLevel
from apps.workloads.drivers.images import Reference
from apps.workloads.drivers.local.isolation import Machine
from apps.workloads.drivers.local.records import RunSpec, decode_spec, encode_spec
from apps.workloads.drivers.remote import codec
from apps.workloads.drivers.said import Code, Said
from apps.workloads.models import Attempt, Workload
from apps.workloads.reconcile.launch import launch_request
from apps.workloads.spec import Image, Stage
from apps.workloads.start_rights import ImageRequest, Pull
from tests.builders import World, reload, submit_workload
from tests.workloads.loops import tick

DIGEST = f"sha256:{'0123456789abcdef' * 4}"
TORCH = f"registry.lab:5000/team/torch@{DIGEST}"


@pytest.mark.parametrize(
    "text",
    [
        TORCH,
        f"ghcr.io/owner/a.b_c__d-e/f@{DIGEST}",
        f"localhost/x@{DIGEST}",
        f"10.0.0.7:443/x/y@{DIGEST}",
    ],
)
def test_an_image_is_named_by_host_repository_and_digest(text: str) -> None:
    assert Reference.parse(text).name == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "registry.lab/torch",
        "registry.lab/torch:latest",
        f"registry.lab/torch:2.6@{DIGEST}",
        f"torch@{DIGEST}",
        f"registry.lab/@{DIGEST}",
        f"registry.lab//torch@{DIGEST}",
        f"registry.lab/Torch@{DIGEST}",
        f"registry.lab/../torch@{DIGEST}",
        f"registry.lab/torch-@{DIGEST}",
        f"https://registry.lab/torch@{DIGEST}",
        f"user@registry.lab/torch@{DIGEST}",
        f"registry.lab/torch @{DIGEST}",
        f"registry.lab/torch\n@{DIGEST}",
        f"registry.lab/tôrch@{DIGEST}",
        f"registry.lab/{'a' * 300}@{DIGEST}",
        f"registry.lab/torch@{DIGEST[:-1]}",
        f"registry.lab/torch@{DIGEST.upper()}",
        f"registry.lab/torch@{DIGEST}\n",
        f"registry.lab/torch@sha512:{'0' * 128}",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no "):
        Reference.parse(text)


def submitted(world: World, image: Reference | Image) -> Workload:
    with acting(world.actor):
        return reload(submit_workload(world, image=image))


def test_a_specification_keeps_either_sort_of_image(world: World) -> None:
    for image in (Reference.parse(TORCH), Image("sklearn", ("scikit-learn==1.6.1",))):
        assert submitted(world, image).frozen_spec.image == image


def test_a_request_keeps_it_on_its_way_to_a_machine(world: World, settings: LazySettings) -> None:
    settings.TRACKED_KINDS = ()  # whose values go another way
    workload = submitted(world, Reference.parse(TORCH))
    request = launch_request(Attempt(workload=workload, node=world.node, number=1))
    assert request.image == Reference.parse(TORCH)
    assert codec.request_in(codec.request_out(request)) == request
    spec = RunSpec(request, IsolationLevel.L0, None, False, "/h")
    assert decode_spec(encode_spec(spec)) == spec


def granted_here(request: ImageRequest) -> Pull:
    return Pull.FREE if request.image.repository.startswith("elsewhere") else Pull.GRANTED


def token_for(request: ImageRequest) -> str:
    return f"opens {request.image.repository}"


def test_stages_keep_their_images_and_each_has_a_credential_of_its_own(world: World, settings: LazySettings) -> None:
    """A token opens one repository, and goes to no other registry."""
    settings.TRACKED_KINDS = ()
    settings.IMAGE_RIGHTS = f"{__name__}.granted_here"
    settings.IMAGE_CREDENTIAL = f"{__name__}.token_for"
    own, other = Reference.parse(TORCH), Reference("elsewhere.lab/team/box", f"sha256:{'e' * 64}")
    tools = Reference("registry.lab:5000/team/tools", DIGEST)
    stages = (Stage(tools, ("build",), ("/out",)), Stage(other, ("true",)))
    with acting(world.actor):
        workload = reload(submit_workload(world, image=own, stages=stages))
    assert workload.frozen_spec.stages == stages
    request = launch_request(Attempt(workload=workload, node=world.node, number=1))
    assert [(secret.name, secret.value) for secret in request.secrets] == [
        (PULL_CREDENTIAL, f"opens {own.repository}"), (f"{PULL_CREDENTIAL}.0", f"opens {tools.repository}")
    ]  # fmt: skip
    bare = replace(request, secrets=())
    assert codec.request_in(codec.request_out(bare)) == bare
    assert [stage.image for stage in bare.stages] == [tools, other]


def test_a_machine_that_runs_no_containers_says_so_in_words(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "isolation", lambda _: Isolation(IsolationLevel.L0, (Said(Code.ISOLATION_OFF),)))
    workload = submitted(world, Reference.parse(TORCH))
    tick()
    workload = reload(workload)
    assert (workload.status, workload.reason, workload.fault) == (Status.FAILED, Reason.REFUSED, Fault.PLATFORM)
    advice = faults.advise(workload)
    assert advice.text == (
        f"Container images run on machines that isolate (level L1) alone, so {TORCH} cannot be started there."
    )


def test_an_image_that_cannot_be_used_is_the_matter_of_who_chose_it(world: World) -> None:
    workload = submitted(world, Reference.parse(TORCH))
    said = Said(Code.IMAGE_OTHER_MACHINE, {"image": TORCH, "offered": "linux/arm64", "wanted": "linux/amd64"})
    workload.reason, workload.reason_data = Reason.IMAGE_FAILED, {"said": said.as_json()}
    advice = faults.advise(workload)
    assert advice.text == f"{TORCH} is for linux/arm64, and the machine is linux/amd64."
    assert "Nothing was charged" in advice.verdict
