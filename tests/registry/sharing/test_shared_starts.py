"""Work of the receiver in a shared image: started while it is shared, refused after, its passport honest about it."""

import pytest

from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.registry.models import Image, ImageTag
from apps.registry.sharing import services as sharing
from apps.training import services as training
from apps.training.models import Run
from apps.workloads import faults
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Attempt, Workload
from apps.workloads.reconcile.schedule import run_pass
from apps.workloads.references import Reference
from apps.workloads.spec import Stage
from tests.builders import platform, reload, signed_in, submit_workload
from tests.registry.sharing.kit import Labs
from tests.training import kit as runs
from tests.workloads.rights import assert_never_ran, held

pytestmark = pytest.mark.django_db


@pytest.fixture
def image(labs: Labs, tag: ImageTag) -> Image:
    return Image.objects.get(repository=tag.repository)


def submitted(labs: Labs, image: Image) -> Run:
    return runs.submit(labs.world, labs.of(labs.rob), image_id=image.pk)


def test_it_is_submitted_and_placed_while_it_is_shared(labs: Labs, tag: ImageTag, image: Image) -> None:
    with pytest.raises(Invalid):
        submitted(labs, image)
    labs.share(tag.repository)
    run = submitted(labs, image)
    with acting(platform()):
        assert run_pass(platform()) == 1
        assert reload(run.workload).status == Status.PLACED


def test_what_waits_is_refused_in_one_word_with_nothing_held_or_charged(
    labs: Labs, tag: ImageTag, image: Image
) -> None:
    share = labs.share(tag.repository)
    run = submitted(labs, image)
    labs.take_back(share)
    with acting(platform()):
        assert run_pass(platform()) == 0
        workload = reload(run.workload)
        assert_never_ran(workload)
        assert workload.reason_data == {"lost": "image_share", "ran": False}
        assert not Attempt.objects.exists()
        assert held() == 0
        shown = faults.card(workload, None)
    assert shown is not None
    assert "not shared with your organisation any more" in shown["text"]
    assert "nothing was charged" in shown["verdict"]
    assert "another image" in str(shown["fixes"])


def test_declining_it_refuses_what_waits_as_well(labs: Labs, tag: ImageTag, image: Image) -> None:
    share, rita = labs.share(tag.repository), labs.of(labs.rita)
    run = submitted(labs, image)
    with acting(rita):
        sharing.decline(rita, share.pk)
    with acting(platform()):
        assert run_pass(platform()) == 0
        assert reload(run.workload).reason == Reason.UNAUTHORISED


def test_what_runs_goes_on(labs: Labs, tag: ImageTag, image: Image) -> None:
    share = labs.share(tag.repository)
    run = submitted(labs, image)
    with acting(platform()):
        run_pass(platform())
    labs.take_back(share)
    with acting(platform()):
        run_pass(platform())
        assert reload(run.workload).status == Status.PLACED
        assert Workload.objects.count() == 1


def test_a_passport_says_that_its_image_is_not_shared_any_more(labs: Labs, tag: ImageTag, image: Image) -> None:
    share, rob = labs.share(tag.repository), signed_in(labs.rob)
    run = submitted(labs, image)
    page, endpoint = f"/training/{run.pk}/passport/", f"/api/v1/training/runs/{run.pk}/passport/"
    assert "not shared with your organisation" not in rob.get(page).content.decode()
    assert rob.get(endpoint).json()["image_unshared"] is False
    labs.take_back(share)
    assert "not shared with your organisation any more" in rob.get(page).content.decode()
    assert rob.get(endpoint).json()["image_unshared"] is True
    actor = labs.of(labs.rob)
    with acting(actor), pytest.raises(Invalid, match="not shared with your organisation any more"):
        training.rerun(actor, run, key="again")


def test_work_that_takes_files_of_it_is_refused_as_well(labs: Labs, tag: ImageTag, image: Image) -> None:
    share = labs.share(tag.repository)
    rob = labs.of(labs.rob)
    with acting(rob):
        stage = Stage(Reference.parse(image.reference), ("true",))
        own = Reference("elsewhere.lab/team/box", f"sha256:{'e' * 64}")
        work = submit_workload(labs.world, rob, image=own, stages=(stage,))
    labs.take_back(share)
    with acting(platform()):
        assert run_pass(platform()) == 0
        assert reload(work).reason_data == {"lost": "image_share", "ran": False}
