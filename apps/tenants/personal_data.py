"""What becomes of everything that belongs to a person whose account is deleted.

Each app declares what it holds of people (`PersonalData`), and `settings.PERSONAL_DATA` names the declarations, since
most of these apps stand above this one. A test compares them with the models: no table can be forgotten.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models import Model
from django.utils.functional import Promise
from django.utils.module_loading import import_string

from apps.common.actor import Actor
from apps.tenants.models import User


class Fate(Enum):
    """What becomes of rows that name a person."""

    ERASED = auto()  # deleted at the end of the term
    BINNED = auto()  # moved to the recycle bin, and purged with it
    ENDED = auto()  # ended by the service that keeps their rules, and logged
    KEPT = auto()  # stays, under the name that stands for the deleted account: money, log, what the organisation made
    EXPIRES = auto()  # deleted after a time of its own, whoever it belongs to


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of the confirmation, such as "3 volumes, 12 GiB"; `names` of some of them."""

    text: str | Promise
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnRows:
    """One file of the copy that a person may have of their data: the rows of `model` whose `column` names them.

    `fields`, with spaces between, are what they are told of each row: never a secret, a digest of one, or what belongs
    to somebody else.
    `everywhere`: also in organisations of which they are no member any more, whose work they see no more.
    """

    name: str
    label: str | Promise
    model: str
    column: str
    fields: str
    where: Mapping[str, Any] = field(default_factory=dict)
    everywhere: bool = False


def nothing(user: User) -> list[Line]:
    return []


def always_done(actor: Actor, user: User) -> bool:
    return True


def no_more(actor: Actor, user: User) -> None:
    return None


@dataclass(frozen=True, slots=True)
class PersonalData:
    """One app's part. Everything is called in the platform's scope.

    `links`: the fate of each column that names a person, by "app.Model.column". `in_the_way`: what has to end before an
    account can be deleted. `lost`, `kept`: for the confirmation. `end`: end what goes on in their name, and say whether
    all has ended. `erase`: what is more than deleting rows, in the transaction of the erasure. `put_away`: move their
    files to the bin, and say whether all are; called again until it is so. `own`: what a copy of their data holds.
    """

    links: Mapping[str, Fate] = field(default_factory=dict)
    in_the_way: Callable[[User], list[Line]] = nothing
    lost: Callable[[User], list[Line]] = nothing
    kept: Callable[[User], list[Line]] = nothing
    end: Callable[[Actor, User], bool] = always_done
    erase: Callable[[Actor, User], None] = no_more
    put_away: Callable[[Actor, User], bool] = always_done
    own: tuple[OwnRows, ...] = ()


def declared() -> list[PersonalData]:
    """Of the apps at the top first, whose rows hold on to those of the ones below."""
    return [import_string(path) for path in settings.PERSONAL_DATA]


def links() -> dict[str, Fate]:
    """All declared columns with their fates."""
    return {name: fate for each in declared() for name, fate in each.links.items()}


def erased_rows() -> Iterator[tuple[type[Model], str]]:
    """Models and columns whose rows are deleted with the account."""
    for name, fate in links().items():
        if fate is Fate.ERASED:
            app, model, column = name.split(".")
            yield apps.get_model(app, model), column
