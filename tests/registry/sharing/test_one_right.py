"""Whoever may pull a repository finds it listed, may choose its images and may start in them; nobody else may.

One property over all that opens and closes a share, in any order.
"""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.registry import selectors as images
from apps.registry.distribution import issuing, selectors
from apps.registry.distribution.access import EVERYTHING, Action
from apps.registry.distribution.names import RepositoryName
from apps.registry.distribution.scopes import Scope
from apps.registry.models import ImageTag, RepositoryShare
from apps.registry.sharing import services
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Organisation, User
from apps.tenants.services import set_organisation_status
from apps.workloads.start_rights import refusals
from tests.builders import platform, submit_workload
from tests.registry.sharing import kit
from tests.searching import run_machine

pytestmark = pytest.mark.django_db


@dataclass(frozen=True, slots=True)
class Right:
    """What one person can do with the repository, asked of each place that decides about it."""

    pulls: bool
    listed: bool
    chosen: bool
    starts: bool
    changes: bool


class Sharing(RuleBasedStateMachine):
    """The model of it: whether there is a share, and what closes it."""

    def __init__(self) -> None:
        super().__init__()
        with acting(platform()):
            self.labs = kit.make_labs()
            self.tag: ImageTag = kit.keep(self.labs.world)
        self.share: RepositoryShare | None = None
        self.declined = self.over = False
        self.allowed = True
        self.frozen: set[str] = set()
        self.queued = {user.pk: self._queue(user) for user in self.people()}
        self.share_it()  # whatever comes first then closes it

    def people(self) -> tuple[User, ...]:
        labs = self.labs
        return labs.world.alice, labs.colleague, labs.rita, labs.rob, labs.tom

    def _queue(self, user: User) -> object:
        actor = self.labs.of(user)
        with acting(actor):
            return submit_workload(self.labs.world, actor=actor, image=kit.reference(self.tag))

    @precondition(lambda self: self.allowed and not self.frozen)
    @rule()
    def share_it(self) -> None:
        """Again, it changes the last day: one that is over counts anew."""
        day = (db_now() + timedelta(days=10)).date()
        changes = self.share is None or self.over
        if changes:
            self.share, self.over = self.labs.share(self.tag.repository, until=day), False

    @precondition(lambda self: self.share is not None and "ours" not in self.frozen)
    @rule()
    def take_it_back(self) -> None:
        assert self.share is not None
        self.labs.take_back(self.share)
        self.share, self.declined, self.over = None, False, False

    @precondition(lambda self: self.share is not None and "theirs" not in self.frozen)
    @rule()
    def decline_or_accept(self) -> None:
        assert self.share is not None
        rita = self.labs.of(self.labs.rita)
        with acting(rita):
            (services.accept if self.declined else services.decline)(rita, self.share.pk)
        self.declined = not self.declined

    @precondition(lambda self: self.share is not None)
    @rule()
    def let_it_expire(self) -> None:
        assert self.share is not None
        day = (db_now() - timedelta(days=2)).date()
        RepositoryShare.objects.filter(pk=self.share.pk).update(until=day)
        self.over = True

    @rule()
    def switch(self) -> None:
        self.allowed = not self.allowed
        kit.allow(allowed=self.allowed)

    @rule()
    def freeze_the_owner(self) -> None:
        self._turn("ours", self.labs.world.organisation)

    @rule()
    def freeze_the_receiver(self) -> None:
        self._turn("theirs", self.labs.other)

    def _turn(self, side: str, organisation: Organisation) -> None:
        status = OrganisationStatus.ACTIVE if side in self.frozen else OrganisationStatus.FROZEN
        with acting(platform()) as actor:
            set_organisation_status(actor, organisation_id=organisation.pk, status=status)
        self.frozen ^= {side}

    def _right(self, user: User) -> Right:
        actor, repository = self.labs.of(user), self.tag.repository
        scope = Scope(RepositoryName.parse(repository.name), EVERYTHING)
        actions = {action for grant in issuing.granted(actor, [scope]) for action in grant.actions}
        uses = actor.may(Permission.IMAGES_USE)  # as each page and endpoint asks first
        with acting(actor):
            listed = uses and selectors.repositories(actor).filter(pk=repository.pk).exists()
            rows = images.images(actor, containers=True).filter(reference=kit.reference(self.tag).name)
            chosen = uses and rows.exists()
        with acting(platform()):
            starts = not refusals([self.queued[user.pk]])  # type: ignore[list-item]
        return Right(Action.PULL in actions, listed, chosen, starts, bool(actions - {Action.PULL}))

    @invariant()
    def one_answer_everywhere(self) -> None:
        counts = self.share is not None and self.allowed and not (self.declined or self.over or self.frozen)
        owns = "ours" not in self.frozen
        expected = (owns, False, counts, counts, False)
        for user, may in zip(self.people(), expected, strict=True):
            changes = may and user == self.labs.world.alice
            assert self._right(user) == Right(may, may, may, may, changes), user.username


@pytest.mark.hypothesis
def test_who_may_pull_is_who_is_shown_it_may_choose_it_and_may_start_in_it(
    tmp_path: Path, settings: LazySettings
) -> None:
    settings.PLSTACK_HOME, settings.REGISTRY_HOST = str(tmp_path), kit.HOST
    run_machine(Sharing, count=30, steps=10)
