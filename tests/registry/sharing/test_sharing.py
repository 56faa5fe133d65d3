"""Sharing with another organisation: who may, what both sides are told, how it ends, and what it never opens."""

from datetime import timedelta
from typing import Any

import pytest

from apps.audit.models import Entry
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.notifications.words import words
from apps.registry.distribution import deleting, selectors, uses
from apps.registry.distribution.capacity import capacity_of
from apps.registry.distribution.services import share as share_inside
from apps.registry.facts import facts_of
from apps.registry.models import Image, ImageRepository, ImageTag, RepositoryShare
from apps.registry.sharing import selectors as shares
from apps.registry.sharing import services
from apps.registry.sharing.choices import ShareState
from apps.registry.sharing.services import NewShare
from apps.tenants import services as tenants
from apps.tenants.choices import OrganisationStatus, Role
from apps.tenants.models import User
from apps.workloads.models import Workload
from tests.builders import actor_of, platform, submit_workload, unknown_id
from tests.registry.sharing import kit
from tests.registry.sharing.kit import Labs

pytestmark = pytest.mark.django_db


def noted(labs: Labs, user: User) -> list[str]:
    with acting(platform()):
        return [notice.kind for notice in Notice.objects.filter(user=user, kind__startswith="image.share")]


def logged(labs: Labs) -> list[tuple[str, str, str]]:
    """Whose log, what, and who did it as it stands there."""
    names = {labs.world.organisation.pk: "owner", labs.other.pk: "receiver"}
    with acting(platform()):
        rows = Entry.objects.filter(action__startswith="image.share").order_by("pk")
        return [(names[row.organisation_id], row.action, row.actor_label) for row in rows]


def give(labs: Labs, user: User, tag: ImageTag, **changes: Any) -> RepositoryShare:
    actor = labs.of(user)
    with acting(actor):
        return services.share(actor, tag.repository_id, NewShare(**{"organisation": labs.other.slug, **changes}))


def uses_running(labs: Labs, tag: ImageTag, user: User) -> Workload:
    actor = labs.of(user)
    with acting(actor):
        return submit_workload(labs.world, actor=actor, image=kit.reference(tag))


class TestWhoMay:
    def test_its_owner_and_who_manages_the_images_share_it_and_take_it_back(self, labs: Labs, tag: ImageTag) -> None:
        for user in (labs.world.alice, labs.admin):
            made = give(labs, user, tag, note="  for   the course ")
            assert (made.receiver, made.note, made.shared_by) == (labs.other, "for the course", user)
            actor = labs.of(user)
            with acting(actor):
                services.take_back(actor, tag.repository_id, made.pk)
        assert not RepositoryShare.objects.exists()

    def test_for_colleagues_and_strangers_it_does_not_exist(self, labs: Labs, tag: ImageTag) -> None:
        made = labs.share(tag.repository)
        for user in (labs.colleague, labs.rita, labs.rob, labs.tom):
            with pytest.raises(NotFound):
                give(labs, user, tag, organisation=labs.third.slug)
            actor = labs.of(user)
            with acting(actor), pytest.raises(NotFound):
                services.take_back(actor, tag.repository_id, made.pk)
        assert RepositoryShare.objects.count() == 1

    def test_a_colleague_who_may_pull_it_does_not_share_it_either(self, labs: Labs, tag: ImageTag) -> None:
        with acting(labs.alice):
            share_inside(labs.alice, tag.repository_id, shared=True)
        with pytest.raises(NotFound):
            give(labs, labs.colleague, tag)

    def test_its_owner_acting_for_the_receiver_only_pulls_it(self, labs: Labs, tag: ImageTag) -> None:
        """They belong to both organisations: there they are one who receives it."""
        made = labs.share(tag.repository)
        with acting(platform()):
            tenants.add_member(
                platform(), organisation_id=labs.other.pk, user=labs.world.alice, role=Role.ADMIN, priority=3
            )
        there = actor_of(labs.world.alice, labs.other)
        with acting(there):
            repository = selectors.repository_of(there, tag.repository_id)
            assert not selectors.may_change(there, repository)
            for act in (
                lambda: services.take_back(there, tag.repository_id, made.pk),
                lambda: share_inside(there, tag.repository_id, shared=True),
                lambda: deleting.delete_repository(there, tag.repository_id),
                lambda: deleting.delete_tag(there, tag.pk),
            ):
                with pytest.raises(NotFound):
                    act()

    def test_the_operator_may_not_allow_it(self, labs: Labs, tag: ImageTag) -> None:
        kit.allow(allowed=False)
        with pytest.raises(Conflict, match="administrators"):
            labs.share(tag.repository)


class TestWhatIsAskedFor:
    @pytest.mark.parametrize(
        ("field", "changes"),
        [
            ("organisation", {"organisation": "nobody-there"}),
            ("organisation", {"organisation": ""}),
            ("note", {"note": "x" * 201}),
        ],
    )
    def test_what_is_wrong_is_said_beside_its_field(
        self, labs: Labs, tag: ImageTag, field: str, changes: dict[str, Any]
    ) -> None:
        with pytest.raises(Invalid) as refused:
            give(labs, labs.world.alice, tag, **changes)
        assert list(refused.value.fields) == [field]

    def test_a_day_that_is_over_or_far_away_is_none(self, labs: Labs, tag: ImageTag) -> None:
        for days in (-2, 5000):
            with pytest.raises(Invalid) as refused:
                labs.share(tag.repository, until=(db_now() + timedelta(days=days)).date())
            assert list(refused.value.fields) == ["until"]

    def test_ones_own_organisation_is_none_to_share_with(self, labs: Labs, tag: ImageTag) -> None:
        with pytest.raises(Invalid, match="already"):
            give(labs, labs.world.alice, tag, organisation=labs.world.organisation.slug)

    def test_a_frozen_organisation_is_not_told_from_one_that_does_not_exist(self, labs: Labs, tag: ImageTag) -> None:
        said = []
        freeze(labs.other.pk)
        for name in (labs.other.slug, "nobody-there"):
            with pytest.raises(Invalid) as refused:
                give(labs, labs.world.alice, tag, organisation=name)
            said.append(str(refused.value))
        assert said[0] == said[1]

    def test_it_is_named_by_its_name_too(self, labs: Labs, tag: ImageTag) -> None:
        assert give(labs, labs.world.alice, tag, organisation=labs.other.name.upper()).receiver == labs.other

    def test_shared_again_its_note_and_last_day_change(self, labs: Labs, tag: ImageTag) -> None:
        first = labs.share(tag.repository, "first")
        with pytest.raises(Conflict) as refused:
            labs.share(tag.repository, "first")
        assert "organisation" in refused.value.fields
        assert labs.share(tag.repository, "second").pk == first.pk
        assert logged(labs)[2:] == [
            ("owner", "image.share_changed", labs.alice.label),
            ("receiver", "image.share_changed", labs.world.organisation.name),
        ]


class TestWhatIsTold:
    def test_both_logs_have_it_and_the_receivers_names_no_stranger(self, labs: Labs, tag: ImageTag) -> None:
        labs.take_back(labs.share(tag.repository))
        home, person = labs.world.organisation.name, labs.alice.label
        assert logged(labs) == [
            ("owner", "image.shared_outside", person),
            ("receiver", "image.share_received", home),
            ("owner", "image.share_taken_back", person),
            ("receiver", "image.share_lost", home),
        ]

    def test_who_manages_the_receivers_images_is_notified_of_its_beginning_and_end(
        self, labs: Labs, tag: ImageTag
    ) -> None:
        day = (db_now() + timedelta(days=3)).date()
        labs.take_back(labs.share(tag.repository, "Take care", day))
        assert sorted(noted(labs, labs.rita)) == ["image.share_ended", "image.share_received"]
        assert noted(labs, labs.rob) == noted(labs, labs.tom) == []
        with acting(platform()):
            told = words(Notice.objects.get(user=labs.rita, kind="image.share_received"))
        assert tag.repository.name in told.title
        assert "Take care" in told.text
        assert day.isoformat() in told.text

    def test_the_owner_hears_that_it_was_declined(self, labs: Labs, tag: ImageTag) -> None:
        made, rita = labs.share(tag.repository), labs.of(labs.rita)
        with acting(rita):
            services.decline(rita, made.pk)
            services.decline(rita, made.pk)
        assert noted(labs, labs.world.alice) == ["image.share_declined"]
        with acting(labs.alice):
            (seen,) = shares.shares_of(tag.repository)
        assert shares.state_of(seen) is ShareState.DECLINED

    def test_of_the_organisations_own_repository_those_who_manage_it_hear(self, labs: Labs) -> None:
        with acting(platform()):
            tag = kit.keep(labs.world, owned=False)
        made, rita = give(labs, labs.admin, tag), labs.of(labs.rita)
        with acting(rita):
            services.decline(rita, made.pk)
        assert noted(labs, labs.admin) == ["image.share_declined"]


class TestTheReceiver:
    def test_only_who_manages_images_there_declines_and_accepts(self, labs: Labs, tag: ImageTag) -> None:
        made = labs.share(tag.repository)
        for user, error in ((labs.rob, Denied), (labs.tom, NotFound), (labs.admin, NotFound)):
            actor = labs.of(user)
            with acting(actor), pytest.raises(error):
                services.decline(actor, made.pk)

    def test_what_was_declined_is_listed_for_who_may_accept_it(self, labs: Labs, tag: ImageTag) -> None:
        made, rita, rob = labs.share(tag.repository), labs.of(labs.rita), labs.of(labs.rob)
        assert [each.pk for each in shares.received_shares(rob)] == [made.pk]
        with acting(rita):
            services.decline(rita, made.pk)
        assert list(shares.received_shares(rob)) == []
        assert [shares.state_of(each) for each in shares.received_shares(rita)] == [ShareState.DECLINED]
        with acting(rita):
            assert shares.state_of(services.accept(rita, made.pk)) is ShareState.ACTIVE
        assert [each.pk for each in shares.received_shares(rob)] == [made.pk]

    def test_states_say_why_it_cannot_be_used(self, labs: Labs, tag: ImageTag) -> None:
        made, rita = labs.share(tag.repository), labs.of(labs.rita)

        def state() -> ShareState:
            return shares.state_of(shares.received_shares(rita).get(pk=made.pk))

        freeze(labs.world.organisation.pk)
        assert state() is ShareState.RESTING
        freeze(labs.world.organisation.pk, OrganisationStatus.ACTIVE)
        assert state() is ShareState.ACTIVE
        kit.allow(allowed=False)
        assert state() is ShareState.RESTING
        RepositoryShare.objects.update(until=(db_now() - timedelta(days=2)).date())
        assert state() is ShareState.ENDED

    def test_what_runs_elsewhere_is_not_theirs_to_know(self, labs: Labs, tag: ImageTag) -> None:
        labs.share(tag.repository)
        uses_running(labs, tag, labs.world.alice)
        mine = uses_running(labs, tag, labs.rob)
        with acting(platform()):
            found = deleting.uses_of_repository(tag.repository)
        assert len(found) == 2
        assert [use.organisation_id for use in seen(labs, labs.rob, tag, found)] == [mine.organisation_id]
        told = seen(labs, labs.world.alice, tag, found)
        assert sorted(use.name for use in told) == ["", "run"]

    def test_its_size_counts_for_its_owner_alone_and_is_known_to_both(self, labs: Labs, tag: ImageTag) -> None:
        labs.share(tag.repository)
        rob = labs.of(labs.rob)
        with acting(platform()):
            used = [capacity_of(each.pk).used for each in (labs.world.organisation, labs.other)]
        assert used == [5000, 0]
        with acting(rob):
            image = Image.objects.get(repository=tag.repository)
            assert facts_of([image])[image.pk].size == 5000
            (row,) = selectors.repositories(rob)
            assert (row.size, row.tag_count) == (5000, 1)  # type: ignore[attr-defined]
            assert [each.digest for each in selectors.versions(row)] == [kit.DIGEST]
            assert [each.name for each in selectors.versions(row)[0].tags.all()] == ["1"]


class TestItsEnd:
    def test_an_image_that_the_receiver_runs_is_not_deleted_under_it(self, labs: Labs, tag: ImageTag) -> None:
        made = labs.share(tag.repository)
        uses_running(labs, tag, labs.rob)
        labs.take_back(made)
        with acting(platform()):
            found = deleting.uses_of_version(tag.repository, kit.DIGEST)
        assert [use.organisation_id for use in found] == [labs.other.pk]

    def test_both_sides_hear_that_the_repository_is_gone(self, labs: Labs, tag: ImageTag) -> None:
        labs.share(tag.repository)
        with acting(platform()) as actor:
            services.end_all(actor, tag.repository)
            ImageRepository.objects.filter(pk=tag.repository_id).delete()
            told = words(Notice.objects.get(user=labs.rita, kind="image.share_ended"))
        assert not RepositoryShare.objects.exists()
        assert "deleted" in told.text
        assert [row[:2] for row in logged(labs)[2:]] == [
            ("owner", "image.share_taken_back"),
            ("receiver", "image.share_lost"),
        ]

    def test_an_unknown_share_is_not_found(self, labs: Labs, tag: ImageTag) -> None:
        labs.share(tag.repository)
        with acting(labs.alice), pytest.raises(NotFound):
            services.take_back(labs.alice, tag.repository_id, unknown_id())


def seen(labs: Labs, user: User, tag: ImageTag, found: list[uses.Use]) -> list[uses.Use]:
    return uses.shown_of(labs.of(user), tag.repository, found)


def freeze(organisation_id: Any, status: OrganisationStatus = OrganisationStatus.FROZEN) -> None:
    with acting(platform()) as actor:
        tenants.set_organisation_status(actor, organisation_id=organisation_id, status=status)
