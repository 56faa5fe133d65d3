"""What the kernel has to know of a kind of work, and the kinds that there are.

A kind is a folder: an app that makes workloads and has a `kind.py` with one `KindRules`. `settings.WORKLOAD_KINDS`
lists them; `collect` reads the list once, when every model is there. The kernel and its neighbours ask the rules and
know no kind by name.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.module_loading import import_string, module_has_submodule

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.notifications import kinds as notice_kinds
from apps.notifications import words as notice_words
from apps.notifications.words import Speaker
from apps.tenants import roles
from apps.tenants.choices import Resource
from apps.workloads.choices import Kind, Status
from apps.workloads.models import Workload

Words: TypeAlias = str | Promise
StartInstead: TypeAlias = Callable[[Actor, Workload, int, str], Workload]
"""Of the actor, what waits, the id of a package and an idempotency key: what starts in its place."""
EndFacts: TypeAlias = Callable[[Workload], Mapping[str, Any]]
"""What the notice of an end says beside time and cost, for its owner alone; none of the keys of `ended.end_data`."""
EntryRight: TypeAlias = Callable[[Actor, Workload], None]
"""Raises a `DomainError` where its owner may not look inside any more."""
NotRetried: TypeAlias = Callable[[QuerySet[Workload]], QuerySet[Workload]]
"""Of workloads of the kind, those that nobody has tried again."""

LONGEST_NAME = 16  # as the column has it


@dataclass(frozen=True, slots=True)
class Rights:
    """`view` one's own, `use` (submit, stop, open) one's own, `manage_all`: see and stop those of colleagues."""

    view: Permission
    use: Permission
    manage_all: Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class KindWords:
    """`start`: the button. `price_lock`: how long its price holds, beside the price.

    `giving_way`: what becomes of it where it may be interrupted, after "otherwise".
    """

    start: Words
    price_lock: Words
    giving_way: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Notices:
    """What its owner is told. A notice is called `<subject>.<what>`.

    `ends`: by final status, the `what` of the notice that the kernel sends at the end; none for those that the kind's
    own app tells. `speakers`: words by `what`. `declared`: those that the list of published notices does not have.
    `facts`: what its own app adds to the notice of an end. `apart`: whether an end is told by itself; not that of one
    of many which their own app tells of together. None: always.
    """

    subject: str
    ends: Mapping[Status, str] = field(default_factory=dict)
    speakers: Mapping[str, Speaker] = field(default_factory=dict)
    declared: tuple[notice_kinds.Kind, ...] = ()
    facts: EndFacts | None = None
    apart: Callable[[Workload], bool] | None = None


@dataclass(frozen=True, slots=True)
class Menu:
    """Its entry in the portal's sidebar; entries of kinds stand in the order of `position`."""

    label: Words
    icon: str
    page: str
    position: int


@dataclass(frozen=True, slots=True)
class Routes:
    """Modules of its app: `pages` has the URLs below `prefix`, `api` those below /api/v1/; both are imported late.

    No two kinds share a `prefix`, nor the first part of a path in the API.
    """

    prefix: str
    pages: str
    api: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRules:
    """One kind of work.

    `name` is stored in `Workload.kind` and stands in the API. `permissions`: those of `rights`, and which roles hold
    them. `quota_line` counts how many live at a time, in `quota_unit`.
    `ends`: exit code 0 says that it is done; what does not end runs until it is stopped. `saved_from_outside`: its own
    app saves its files before a stop; other work writes its own checkpoints. `private`: nobody but its owner looks
    inside. `replicas`: it may run as a set of equal programs that live one by one, which does not end by itself.
    `keeps_gpu`: who asked for a GPU is never proposed a package without one. `routes`: its part of the site,
    and `page` in it: the URL that leads from a workload's id to its page. `not_retried`: which failures its owner still
    has to see to; None where the kind's own pages say so. `start_instead`: how what waits goes on with another package;
    None where it cannot. `entry_right`: what its owner needs to look inside beside `rights.use`, asked at each entry
    and again while it is open; None for nothing.
    """

    name: Kind
    label: Words
    rights: Rights
    permissions: tuple[roles.KindPermission, ...]
    quota_line: Resource
    quota_unit: Words
    words: KindWords
    notices: Notices
    routes: Routes
    page: str
    ends: bool = True
    saved_from_outside: bool = False
    private: bool = False
    keeps_gpu: bool = False
    replicas: bool = False
    menu: Menu | None = None
    not_retried: NotRetried | None = None
    start_instead: StartInstead | None = None
    entry_right: EntryRight | None = None


class UnknownKind(LookupError):
    """A workload of a kind that this installation does not have."""


_KINDS: dict[Kind, KindRules] = {}


def collect(paths: Iterable[str]) -> None:
    """Register what `settings.WORKLOAD_KINDS` lists.

    Raises `ImproperlyConfigured` for a path that does not lead to rules, for two kinds that are called alike, and for
    an installed app with a `kind.py` that the list leaves out.
    """
    listed = list(paths)
    for config in apps.get_app_configs():
        if module_has_submodule(config.module, "kind") and not any(
            path.startswith(f"{config.name}.kind.") for path in listed
        ):
            raise ImproperlyConfigured(f"WORKLOAD_KINDS leaves out the kind of {config.name}.")
    for path in listed:
        try:
            rules = import_string(path)
        except ImportError as error:
            raise ImproperlyConfigured(f"WORKLOAD_KINDS names {path}, which cannot be imported: {error}") from error
        if not isinstance(rules, KindRules):
            raise ImproperlyConfigured(f"WORKLOAD_KINDS names {path}, which is not a KindRules.")
        register(rules)


def register(rules: KindRules) -> None:
    """Make a kind known to the kernel, to roles, quota and notices. Raises for a name that is taken anywhere."""
    if not rules.name or len(rules.name) > LONGEST_NAME:
        raise ImproperlyConfigured(f"A kind's name has 1 to {LONGEST_NAME} characters: “{rules.name}”.")
    if rules.replicas and rules.ends:
        raise ImproperlyConfigured(f"Replicas serve until they are stopped, so “{rules.name}” cannot end by itself.")
    for other in _KINDS.values():
        if other.name == rules.name or other.notices.subject == rules.notices.subject:
            raise ImproperlyConfigured(f"Two kinds share the name or the subject of “{rules.name}”.")
    if rules.quota_line not in Resource.every():
        Resource.add(rules.quota_line)
    for permission in rules.permissions:
        roles.register_permission(permission)
    notice_kinds.register_kinds(rules.notices.declared)
    notice_words.register_words(
        {f"{rules.notices.subject}.{what}": said for what, said in rules.notices.speakers.items()}
    )
    _KINDS[rules.name] = rules


def withdraw(rules: KindRules) -> None:
    """Undo `register`: for tests, which have kinds of their own."""
    del _KINDS[rules.name]
    notice_words.unregister_words(rules.notices.subject)
    notice_kinds.unregister_kinds(rules.notices.declared)
    for permission in rules.permissions:
        roles.unregister_permission(permission)
    if rules.quota_line not in tuple(Resource):
        Resource.remove(rules.quota_line)


def every() -> tuple[KindRules, ...]:
    """All kinds, in the order of the settings. Raises `ImproperlyConfigured` before they are collected."""
    if not _KINDS:
        raise ImproperlyConfigured("The kinds of work are not collected yet.")
    return tuple(_KINDS.values())


def named(name: Kind) -> KindRules:
    """Raises `UnknownKind`."""
    try:
        return _KINDS[name]
    except KeyError:
        raise UnknownKind(f"No kind of work is called “{name}” here.") from None


def kind_of(workload: Workload) -> KindRules:
    return named(Kind(workload.kind))


def choices() -> list[tuple[str, Words]]:
    """Name and label of each kind, for filters and the API."""
    return [(rules.name, rules.label) for rules in every()]
