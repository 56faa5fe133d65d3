"""A zip of what the platform keeps about one person: each table of it as CSV, for people, and as JSON, for programs."""

import io
import json
import zipfile
from typing import Any

from django.apps import apps
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.common.spreadsheets import BOM, csv_line
from apps.tenants.models import Membership, User
from apps.tenants.personal_data import OwnRows, declared

# Of one table, the newest: what a file can hold that is opened in a spreadsheet, and a worker in its memory.
MOST_ROWS = 50_000


def own_tables() -> list[OwnRows]:
    """Of all apps, the account itself first."""
    return [table for each in reversed(declared()) for table in each.own]


def pack(user: User) -> bytes:
    """The zip's bytes, with its words in the language in force. Called in the platform's scope."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
        contents = []
        for table in own_tables():
            rows, cut = _rows(table, user)
            contents.append(_line(table, len(rows), cut))
            archive.writestr(f"{table.name}.csv", BOM + _csv(table, rows))
            archive.writestr(f"{table.name}.json", _json(table, rows))
        archive.writestr("README.txt", "\r\n".join([*_head(user), "", *contents, ""]))
    return kept.getvalue()


def _rows(table: OwnRows, user: User) -> tuple[list[tuple[Any, ...]], bool]:
    """The table's rows, newest first, and whether there are more than these."""
    model = apps.get_model(table.model)
    rows: QuerySet[Model] = model._default_manager.filter(**{table.column: user.pk}, **table.where)
    if not table.everywhere:
        rows = rows.filter(_visible(model, user))
    found = list(rows.order_by("-pk").values_list(*table.fields.split())[: MOST_ROWS + 1])
    return found[:MOST_ROWS], len(found) > MOST_ROWS


def _visible(model: type[Model], user: User) -> Q:
    """Rows outside of organisations, and those of organisations of which the person is a member now."""
    if not hasattr(model, "organisation_id"):
        return Q()
    mine = Membership.objects.filter(user=user).values("organisation_id")
    return Q(organisation_id__in=mine) | Q(organisation_id=None)


def _csv(table: OwnRows, rows: list[tuple[Any, ...]]) -> str:
    return csv_line(_names(table)) + "".join(
        csv_line([json.dumps(cell, ensure_ascii=False) if isinstance(cell, dict | list) else cell for cell in row])
        for row in rows
    )


def _json(table: OwnRows, rows: list[tuple[Any, ...]]) -> str:
    names = _names(table)
    objects = [dict(zip(names, row, strict=True)) for row in rows]
    return json.dumps(objects, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1)


def _names(table: OwnRows) -> list[str]:
    """`organisation`, not `organisation__name`: what a reader is told, not how it is found."""
    return [name.removesuffix("__name").removesuffix("__name_en").replace("__", "_") for name in table.fields.split()]


def _head(user: User) -> list[str]:
    name = {"name": user.display_name, "time": f"{timezone.localtime():%Y-%m-%d %H:%M %Z}"}
    return [
        _("What this platform keeps about %(name)s, as of %(time)s.") % name,
        _("Each table is there twice: as .csv for a spreadsheet and as .json for a program."),
        _("Not in it: passwords, tokens, keys and values of secrets, which the platform cannot or may not show; files, "
          "which are downloaded where they are; and work in organisations of which you are no member any more."),
    ]  # fmt: skip


def _line(table: OwnRows, count: int, cut: bool) -> str:
    rows = ngettext("%(count)s row", "%(count)s rows", count) % {"count": count}
    more = _("; there are more, these are the newest") if cut else ""
    return f"{table.name}: {table.label}, {rows}{more}"
