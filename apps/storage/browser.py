"""The context of the file manager, which any page may include: `context(...)` for `storage/files/frame.html`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.permissions import Permission
from apps.storage import jobs, listing, uploads
from apps.storage.choices import RootKind
from apps.storage.models import MIB, Job, Upload
from apps.storage.roots import Root
from apps.storage.safe_open import split_path

# Acts on one entry or on a selection: name, icon, label.
ACTS: tuple[tuple[str, str, str | Promise], ...] = (
    ("move", "folder-symlink", _("Move")),
    ("copy", "copy", _("Copy")),
    ("delete", "trash", _("Delete")),
)
COLUMNS: tuple[tuple[str, str | Promise], ...] = (
    ("name", _("Name")),
    ("size", _("Size")),
    ("modified", pgettext_lazy("time", "Changed")),
)


@dataclass(frozen=True, slots=True)
class Row:
    """A file or folder and its link: into the folder, or to the file's own page."""

    entry: listing.Entry
    url: str


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An upload that stopped; choosing the same file again continues it."""

    upload: Upload
    offset: int

    @property
    def percent(self) -> int:
        return 100 * self.offset // self.upload.size if self.upload.size else 0


@dataclass(frozen=True, slots=True)
class Files:
    """A folder of a tree as the page shows it. `page` is None if there is no such folder."""

    root: Root
    url: str
    api: str
    path: str
    search: str
    order: str
    page: listing.Page | None
    rows: tuple[Row, ...]
    crumbs: tuple[tuple[str, str], ...]
    columns: tuple[dict[str, Any], ...]
    writable: bool
    jobs: tuple[Job, ...] = ()
    failed: tuple[Job, ...] = ()
    unfinished: tuple[Unfinished, ...] = ()
    empty_text: str | Promise = ""

    @property
    def shows_usage(self) -> bool:
        """Its page says how much of its size is used: a volume's does."""
        return self.root.kind == RootKind.VOLUME and self.root.limit is not None

    @property
    def limit_mib(self) -> int | None:
        return None if self.root.limit is None else self.root.limit // MIB

    @property
    def is_over(self) -> bool:
        return self.root.limit is not None and self.root.used > self.root.limit

    @property
    def acts(self) -> tuple[tuple[str, str, str | Promise], ...]:
        return ACTS

    @property
    def here(self) -> str:
        return self._at(path=self.path, q=self.search, sort=self.order)

    @property
    def previous(self) -> str:
        return self._page(-1)

    @property
    def next(self) -> str:
        return self._page(1)

    def _page(self, step: int) -> str:
        if self.page is None or not 1 <= self.page.number + step <= self.page.pages:
            return ""
        return self._at(path=self.path, q=self.search, sort=self.order, page=str(self.page.number + step))

    def _at(self, **values: str) -> str:
        return url_with_query(self.url, **values)


def url_with_query(url: str, **values: str) -> str:
    """The URL with the non-empty values as its query."""
    given = {name: value for name, value in values.items() if value and (name, value) != ("sort", "name")}
    return f"{url}?{urlencode(given)}" if given else url


def context(actor: Actor, root: Root, params: Mapping[str, str], *, empty_text: str | Promise = "") -> Files:
    """`params` are the page's query: `path`, `q`, `sort`, `page`. Never raises for a path that is not (any more)."""
    url = reverse("storage:files", args=[root.kind, root.id])
    path, search, order = params.get("path", ""), params.get("q", "")[:255], params.get("sort", "name")
    page, path = _page(root, path, search, order, params.get("page", ""))
    rows = tuple(_row(url, root, entry) for entry in page.entries) if page is not None else ()
    writable = root.writable and actor.may(Permission.STORAGE_USE)
    return Files(
        root=root,
        url=url,
        api=reverse("api-files", args=[root.kind, root.id]),
        path=path,
        search=search,
        order=order,
        page=page,
        rows=rows,
        crumbs=_crumbs(url, path),
        columns=tuple(_column(url, path, search, order, name, label) for name, label in COLUMNS),
        writable=writable,
        jobs=tuple(jobs.open_jobs_of(root.id)),
        failed=tuple(jobs.recent_failures(root.id)),
        unfinished=_unfinished(actor, root) if writable else (),
        empty_text=empty_text,
    )


def _page(root: Root, path: str, search: str, order: str, number: str) -> tuple[listing.Page | None, str]:
    wanted = int(number) if number.isascii() and number.isdigit() and len(number) < 8 else 1
    try:
        path = "/".join(split_path(path))
        return listing.page_of(root.path, path, search=search, order=order, number=wanted), path
    except DomainError:
        return None, ""


def _row(url: str, root: Root, entry: listing.Entry) -> Row:
    if entry.is_folder:
        return Row(entry, url_with_query(url, path=entry.path))
    return Row(entry, url_with_query(reverse("storage:show", args=[root.kind, root.id]), path=entry.path))


def _crumbs(url: str, path: str) -> tuple[tuple[str, str], ...]:
    names = [name for name in path.split("/") if name]
    return tuple((name, url_with_query(url, path="/".join(names[: number + 1]))) for number, name in enumerate(names))


def _column(url: str, path: str, search: str, order: str, name: str, label: str | Promise) -> dict[str, Any]:
    current = order.lstrip("-") == name
    descending = current and order.startswith("-")
    following = f"-{name}" if current and not descending else name
    return {
        "name": name,
        "label": label,
        "current": current,
        "descending": descending,
        "url": url_with_query(url, path=path, q=search, sort=following),
    }


def _unfinished(actor: Actor, root: Root) -> tuple[Unfinished, ...]:
    mine = Upload.objects.filter(owner_id=actor.user_id, root_kind=root.kind, root_id=root.id).order_by("created_at")
    return tuple(Unfinished(upload, uploads.offset_of(upload)) for upload in mine[:20])
