"""Settings of the platform: one frozen dataclass for each group, one row for each group, read and written here only.

    @dataclass(frozen=True, slots=True)
    class MailSettings:
        KEY: ClassVar[str] = "mail"
        host: str = ""
        password: str = secret()

        def validate(self) -> None: ...     # optional; raises `Invalid` with the fields at fault

    settings.get(MailSettings).host
    settings.put(actor, replace(settings.get(MailSettings), host="mail.example.org"))

Every field has a default, which is what a new installation uses. Values are str, int, bool, float, StrEnum, None,
tuples of these, and mappings of JSON values. Secrets are str; they are encrypted in the row and masked in the log.
"""

import dataclasses
import json
import logging
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import Any, ClassVar, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

from django.db import transaction
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.common.sealing import Unreadable, purpose_for, seal, unseal
from apps.tenants.models import PlatformSetting

log = logging.getLogger(__name__)
MASK = "••••"


class Group(Protocol):
    """A group of settings: a frozen dataclass with a `KEY`."""

    KEY: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]


G = TypeVar("G", bound=Group)

# What this request has read already; None outside of a request, where every read asks the database. No group has the
# key under which all rows are.
_ROWS = ""
_memory: ContextVar[dict[str, Any] | None] = ContextVar("settings_memory", default=None)


def secret() -> Any:
    """A field whose value is encrypted at rest and never written into the log; empty means not set."""
    return dataclasses.field(default="", repr=False, metadata={"secret": True})


def get(group: type[G]) -> G:
    """The group's present values; the same throughout one request."""
    memory = _memory.get()
    if memory is not None and group.KEY in memory:
        kept: G = memory[group.KEY]
        return kept
    value = _decoded(group, _row(group.KEY, memory))
    if memory is not None:
        memory[group.KEY] = value
    return value


def _row(key: str, memory: dict[str, Any] | None) -> PlatformSetting | None:
    """Within a request, the few rows that there are have been read at once."""
    if memory is None:
        return PlatformSetting.objects.filter(pk=key).first()
    if _ROWS not in memory:
        memory[_ROWS] = {row.pk: row for row in PlatformSetting.objects.all()}
    found: PlatformSetting | None = memory[_ROWS].get(key)
    return found


def put(actor: Actor, value: Group) -> None:
    """Store `value` as its group's settings and log the change; raises `Invalid` from the group's `validate`."""
    actor.require(Permission.PLATFORM_SETTINGS_MANAGE)
    check = getattr(value, "validate", None)
    if check is not None:
        check()
    with transaction.atomic():
        PlatformSetting.objects.get_or_create(pk=value.KEY)
        row = PlatformSetting.objects.select_for_update().get(pk=value.KEY)
        _log(actor, _decoded(type(value), row), value)
        plain, hidden = _encoded(value)
        row.value = plain
        row.sealed = seal(json.dumps(hidden).encode(), purpose=_purpose(value.KEY)) if hidden else None
        row.updated_at = Now()
        row.save()
    _forget(value.KEY)


def _log(actor: Actor, before: Group, after: Group) -> None:
    """Only what changed; a changed secret shows that it changed."""
    old, new = _flat(before), _flat(after)
    changed = [name for name in new if old[name] != new[name]]
    if not changed:
        return
    hidden = _secrets(type(after))

    def shown(values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: (MASK if values[name] else "") if name in hidden else values[name] for name in changed}

    target = Target("settings", after.KEY, after.KEY)
    record(actor, action="settings.changed", target=target, before=shown(old), after=shown(new))


def _encoded(value: Group) -> tuple[dict[str, Any], dict[str, Any]]:
    """The open values and the secret ones."""
    values, hidden = _flat(value), _secrets(type(value))
    return (
        {name: each for name, each in values.items() if name not in hidden},
        {name: values[name] for name in hidden},
    )


def _flat(value: Group) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _secrets(group: type[Group]) -> list[str]:
    return [field.name for field in dataclasses.fields(group) if field.metadata.get("secret")]


def _decoded(group: type[G], row: PlatformSetting | None) -> G:
    """Decode a row; fields that it lacks, or whose values this version cannot read, get their default."""
    stored: dict[str, Any] = dict(row.value) if row else {}
    if row and row.sealed:
        stored |= _opened(row)
    hints = get_type_hints(group)
    readable = {}
    for field in dataclasses.fields(group):
        try:
            readable[field.name] = _typed(hints[field.name], stored[field.name])
        except (KeyError, ValueError, TypeError):
            continue
    return group(**readable)


def _opened(row: PlatformSetting) -> dict[str, Any]:
    """The row's secrets; without their key they count as not set, so that the page to enter them still opens."""
    try:
        values: dict[str, Any] = json.loads(unseal(bytes(row.sealed or b""), purpose=_purpose(row.pk)))
    except Unreadable:
        log.error("The secrets of the settings %s cannot be read: the sealing keys do not fit.", row.pk)
        return {}
    return values


def _typed(hint: Any, value: Any) -> Any:
    """`value` from JSON as its field's type."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        choices = [each for each in get_args(hint) if each is not type(None)]
        return None if value is None else _typed(choices[0], value)
    if origin is tuple:
        return tuple(_typed(get_args(hint)[0], each) for each in value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    if isinstance(hint, type) and not isinstance(value, hint) and not (hint is float and isinstance(value, int)):
        raise TypeError(f"{value!r} is no {hint.__name__}")
    return value


def _purpose(key: str) -> str:
    return purpose_for("tenants_platformsetting", key, "sealed")


def _forget(key: str) -> None:
    memory = _memory.get()
    if memory is not None:
        memory.pop(key, None)
        memory.pop(_ROWS, None)


@contextmanager
def caching_reads() -> Iterator[None]:
    """While it is active, each group is read from the database once."""
    token = _memory.set({})
    try:
        yield
    finally:
        _memory.reset(token)


class RememberSettings:
    """Middleware: read each group at most once per request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with caching_reads():
            return self.get_response(request)
