"""Acts that are killed at each of their points in turn, in a world of its own each time, and what must be so then."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.db.models import Sum

from apps.audit.models import Entry
from apps.billing import selectors
from apps.billing.choices import TransferKind
from apps.billing.models import Account, Transfer
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.tenants.choices import Role
from apps.tenants.models import Organisation
from tests.billing.builders import make_member, make_organisation
from tests.billing.killing import deaths


@dataclass(eq=False)
class World:
    """An organisation of its own for each death."""

    lab: Organisation
    actor: Actor


def kill_everywhere(
    prepare: Callable[[World], Callable[[], Any]],
    finish: Callable[[World], Any],
    check: Callable[[World], None],
    *,
    at_once: Callable[[World], None] = lambda world: None,
) -> list[str]:
    """Kill `prepare(world)()` at each point in a new world each time; `finish` twice; then the books and `check`.

    `at_once` looks at what the dead has left before anybody finishes it: nothing may be half done even then.
    """
    worlds: dict[int, World] = {}

    def act(number: int) -> Callable[[], Any]:
        lab = make_organisation()
        worlds[number] = World(lab, make_member(lab, Role.FINANCE))
        return prepare(worlds[number])

    def look(number: int, point: str | None) -> None:
        try:
            at_once(worlds[number])
            for _again in range(2):
                finish(worlds[number])
            check(worlds[number])
        except AssertionError as error:
            raise AssertionError(f"killed at {point}") from error
        assert (selectors.drift(), selectors.unbalanced_runs()) == ([], []), point
        assert Account.objects.aggregate(all=Sum("balance_fen"))["all"] in (0, None), point

    return deaths(act, look)


def moved(world: World, kind: TransferKind) -> list[int]:
    rows = Transfer.objects.filter(organisation=world.lab, kind=kind).order_by("pk")
    return list(rows.values_list("amount_fen", flat=True))


def again(*steps: Callable[[], Any]) -> None:
    """Each step as somebody takes it who does not know how far the dead had come: what is done already refuses it."""
    for step in steps:
        with suppress(Conflict):
            step()


def logged(target_type: str, target_id: object) -> list[str]:
    """The acts that the log has of one thing, in their order."""
    rows = Entry.objects.filter(target_type=target_type, target_id=str(target_id)).order_by("pk")
    return list(rows.values_list("action", flat=True))
