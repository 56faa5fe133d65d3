"""Work that is saved as an image gets into the registry, and starts from there anywhere."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models.functions import Now

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.registry.choices import SavingProblem
from apps.registry.models import Image, ImageSaving, ImageTag
from apps.registry.saving import layouts as kept
from apps.registry.saving import states, working
from apps.registry.saving.words import problem_words, progress_words
from apps.workloads import reach
from apps.workloads import services as workloads
from tests.builders import World, platform
from tests.builds.machine import said_in
from tests.drivers.registries import BUSYBOX
from tests.registry import serving
from tests.registry.pushing import Pusher
from tests.registry.saving import kit
from tests.registry.serving import Site
from tests.workloads.loops import until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.programs,
    pytest.mark.skipif(BUSYBOX is None or not serving.PROGRAM, reason="needs busybox-static and docker-registry"),
]


def image_of(saving: ImageSaving) -> Image:
    with acting(platform()):
        tag = ImageTag.objects.get(repository__name=saving.repository_name, name=saving.tag)
        found: Image = Image.objects.get(key=f"pushed-{tag.pk.hex}")
        return found


def test_what_was_changed_is_a_version_in_the_registry_and_starts_from_there(
    world: World, box: Image, site: Site, tmp_path: Path
) -> None:
    saving = kit.ended(kit.ask(world, kit.changed(world, box), note="with one"))
    assert (saving.status, saving.tag, saving.note) == ("succeeded", "1", "with one")
    assert Pusher(site, kit.repository(world), world.alice.username).is_whole("1")
    image = image_of(saving)
    assert image.reference == f"{site.host}/{kit.repository(world)}@{saving.digest}"
    with acting(platform()):
        assert Entry.objects.filter(action="image.saved", actor_id=world.alice.pk).count() == 1
        assert Entry.objects.filter(action="image.pushed", actor_id=world.alice.pk).count() == 1
        assert Notice.objects.filter(kind="image.saved").count() == 1
        assert kit.layouts(tmp_path) == {saving.digest}
        assert kept.sweep() == 0, "it has only just been saved"
        assert kept.sweep(0) == 1
    assert not kit.layouts(tmp_path), "its machine keeps no copy"
    shutil.rmtree(tmp_path / "images")  # as on a node that has never seen it
    assert "1\n" in said_in(world, image, "cat", "/one")


def test_it_is_sent_also_once_it_has_been_stopped(world: World, box: Image, site: Site) -> None:
    workload = kit.changed(world, box)
    saving = kit.sending(kit.ask(world, workload))
    with acting(world.actor):
        workloads.stop(world.actor, workload)
    with acting(platform()):
        until(workload, lambda each: not each.is_live, 60)
    assert kit.ended(saving).status == "succeeded"
    assert "1\n" in said_in(world, image_of(saving), "cat", "/one")


def test_one_that_ended_before_its_machine_could_save_it_says_so(world: World, box: Image, site: Site) -> None:
    workload = kit.changed(world, box)
    saving = kit.ask(world, workload)
    with acting(world.actor):
        workloads.stop(world.actor, workload)
    with acting(platform()):
        until(workload, lambda each: not each.is_live, 60)
    over = kit.turn(saving)
    assert (over.status, over.problem) == ("failed", "not_running")
    with acting(platform()):
        assert Notice.objects.filter(kind="image.not_saved", data__saving_id=str(saving.pk)).exists()


def test_nothing_that_was_changed_is_nothing_to_save(world: World, box: Image, site: Site, tmp_path: Path) -> None:
    over = kit.turn(kit.ask(world, kit.changed(world, box, "true")))
    assert (over.status, over.problem) == ("failed", "not_saved")
    assert "Nothing was changed" in problem_words(over)
    assert not kit.layouts(tmp_path)


def test_whoever_dies_in_between_is_made_good(world: World, box: Image, site: Site, tmp_path: Path) -> None:
    """After each step its row is as if the step had not been written down; its sender is killed as well."""
    saving = kit.ask(world, kit.changed(world, box, "dd if=/dev/zero of=/large bs=1M count=40"))
    with acting(platform()):
        reach.save_image_of(saving.workload)  # written, and no row names it
    sent = kit.sending(saving)
    assert kit.layouts(tmp_path) == {sent.digest}, "the same changes, the same image"
    kit.turn(saving)
    kit.kill_senders()
    with acting(platform()):
        ImageSaving.objects.filter(pk=saving.pk).update(begun=False, said=None)
    over = kit.ended(saving)
    assert over.status == "succeeded"
    assert Pusher(site, kit.repository(world), world.alice.username).is_whole("1")
    with acting(platform()):
        assert ImageTag.objects.filter(repository__name=over.repository_name).count() == 1
        assert Notice.objects.filter(kind="image.saved").count() == 1


def test_only_the_newest_claimant_writes(world: World, box: Image, site: Site) -> None:
    saving = kit.ask(world, kit.changed(world, box))
    with acting(platform()):
        first = states.claim(saving.pk)
        assert first is not None
        assert states.claim(saving.pk) is None, "not before its lease is over"
        ImageSaving.objects.filter(pk=saving.pk).update(due_at=Now())
        second = states.claim(saving.pk)
        assert second is not None
        assert not states.saved(first, f"{site.host}/a@sha256:{'1' * 64}")
        assert states.fail(second, SavingProblem.GAVE_UP, {"count": 1})
        assert not states.succeed(second), "it has ended"


def test_while_the_registry_is_away_it_waits_and_says_so(world: World, box: Image, site: Site) -> None:
    saving = kit.sending(kit.ask(world, kit.changed(world, box)))
    kit.stop_registry(site)
    waiting = kit.turn(saving)
    assert (waiting.status, waiting.waits_since is not None) == ("sending", True)
    assert "cannot be reached" in progress_words(waiting)
    kit.start_registry(site)
    over = kit.ended(saving)
    assert (over.status, over.waits_since) == ("succeeded", None)


def test_what_has_waited_for_too_long_fails(
    world: World, box: Image, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    saving = kit.sending(kit.ask(world, kit.changed(world, box)))
    monkeypatch.setattr(working.sending, "push", kit.away)
    monkeypatch.setattr(working.sending, "withdraw", kit.away)
    kit.turn(saving)
    with acting(platform()):
        ImageSaving.objects.filter(pk=saving.pk).update(waits_since=Now() - timedelta(hours=25))
    over = kit.turn(saving)
    assert (over.status, over.problem) == ("failed", "too_long_away")
