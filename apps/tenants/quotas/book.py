"""The books: what each level holds. Every change runs under the organisation's lock.

Order of locks: the organisation's row, then quota rows by id. The tree of departments changes only under the first,
so the way up from a department cannot change between reading it and counting along it.
"""

from collections.abc import Iterable, Mapping
from uuid import UUID

from django.db.models import F, Q, QuerySet, Sum

from apps.tenants import tree
from apps.tenants.choices import Resource
from apps.tenants.models import Holding, Organisation, Quota
from apps.tenants.quotas.amounts import Amounts, Holder, Line, lines_of
from apps.tenants.quotas.refusals import QuotaRefusal, refusal_of

# One set of books: of a department, of a person, or (both None) of the whole organisation.
Level = tuple[UUID | None, int | None]
WHOLE: Level = (None, None)


def reserve(
    *,
    organisation_id: UUID,
    department_id: UUID | None,
    user_id: int,
    amounts: Amounts,
    holder: Holder | None = None,
) -> None:
    """Take `amounts` from every level, or raise `QuotaExceeded` and take nothing. Needs a transaction.

    Levels: the organisation, the department with all above it, the person. With `holder`, the books also say what
    holds it; reserving again for the same holder adds to what it has.
    """
    lines = lines_of(amounts)
    lock(organisation_id)
    levels = _levels(department_id, user_id)
    department_id = levels[1][0]  # None where it was deleted between the actor's reading it and the lock
    _ensure(organisation_id, levels, lines)
    rows = _locked(organisation_id, levels, lines)
    refusal = refusal_of(rows, lines, department_id)
    if refusal is not None:
        raise refusal
    _add(rows, lines)
    if holder is not None:
        _hold(organisation_id, department_id, user_id, lines, holder)


def release(
    *,
    organisation_id: UUID,
    department_id: UUID | None,
    user_id: int,
    amounts: Amounts,
    holder: Holder | None = None,
) -> None:
    """Give back what `reserve` took with the same arguments; from a holder never more than it has.

    It is deducted from the books in which it is counted now, wherever its owner or the department has moved meanwhile.
    What was reserved without a holder (everything, before holdings were kept: then not by model either) is deducted
    from those of `department_id`.
    """
    lock(organisation_id)
    lines = lines_of(amounts)
    held = _holdings(organisation_id, holder)
    if held:
        department_id, user_id = held[0].department_id, held[0].user_id
        lines = _take_off_holdings(held, lines)
    elif holder is not None:
        lines = {line: amount for line, amount in lines.items() if not line[1]}
    _subtract(organisation_id, _levels(department_id, user_id), lines)


def release_all(*, organisation_id: UUID, holder: Holder) -> None:
    """Give back everything that a holder has."""
    lock(organisation_id)
    held = _holdings(organisation_id, holder)
    if held:
        everything = {(Resource(row.resource), row.model): row.amount for row in held}
        levels = _levels(held[0].department_id, held[0].user_id)
        _subtract(organisation_id, levels, _take_off_holdings(held, everything))


def shortfall(
    *, organisation_id: UUID, department_id: UUID | None, user_id: int, amounts: Amounts
) -> QuotaRefusal | None:
    """What `reserve` would refuse now, without taking anything: for the quote beside the button."""
    lines = lines_of(amounts)
    rows = list(_rows(organisation_id, _levels(department_id, user_id), lines))
    return refusal_of(rows, lines, department_id)


def lock(organisation_id: UUID) -> None:
    """Lock the organisation's books and department tree until the transaction ends."""
    list(Organisation.objects.select_for_update(no_key=True).filter(pk=organisation_id).values_list("pk"))


def move_person(*, organisation_id: UUID, user_id: int, department_id: UUID | None) -> None:
    """Count everything that a person holds in another department from now on, even above its limits."""
    lock(organisation_id)
    mine = Holding.objects.filter(organisation_id=organisation_id, user_id=user_id)
    for former in set(mine.values_list("department_id", flat=True)) - {department_id}:
        rows = mine.filter(department_id=former)
        _shift(organisation_id, _sums(rows), former=tree.ancestors(former), latter=tree.ancestors(department_id))
        rows.update(department_id=department_id)


def move_department(*, organisation_id: UUID, department_id: UUID, parent_id: UUID | None) -> None:
    """Count what a department holds under `parent_id` from now on. Call under `lock`, before its parent changes."""
    rows = Quota.objects.filter(organisation_id=organisation_id, department_id=department_id, used__gt=0)
    lines = {(Resource(row.resource), row.model): row.used for row in rows}
    former = tree.ancestors(department_id)[1:]
    _shift(organisation_id, lines, former=former, latter=tree.ancestors(parent_id))


def _shift(organisation_id: UUID, lines: Mapping[Line, int], *, former: list[UUID], latter: list[UUID]) -> None:
    """Move amounts from one path of ancestors to another; levels that both share are not touched."""
    common = set(former) & set(latter)
    gained: list[Level] = [(each, None) for each in latter if each not in common]
    _subtract(organisation_id, [(each, None) for each in former if each not in common], lines)
    _ensure(organisation_id, gained, lines)
    _add(_locked(organisation_id, gained, lines), lines)


def _sums(rows: "QuerySet[Holding]") -> dict[Line, int]:
    totals = rows.order_by().values_list("resource", "model").annotate(total=Sum("amount"))
    return {(Resource(resource), model): total for resource, model, total in totals}


def _levels(department_id: UUID | None, user_id: int) -> list[Level]:
    return [WHOLE, *((each, None) for each in tree.ancestors(department_id)), (None, user_id)]


def _ensure(organisation_id: UUID, levels: Iterable[Level], lines: Iterable[Line]) -> None:
    """Create a row for each level and line: use is counted even without a limit, so that a later limit is correct."""
    Quota.objects.bulk_create(
        [
            Quota(
                organisation_id=organisation_id, department_id=department, user_id=user, resource=resource, model=model
            )
            for department, user in levels
            for resource, model in lines
        ],
        ignore_conflicts=True,
    )


def _rows(organisation_id: UUID, levels: Iterable[Level], lines: Iterable[Line]) -> "QuerySet[Quota]":
    of_level, of_line = Q(), Q()
    for department, user in levels:
        of_level |= Q(department_id=department, user_id=user)
    for resource, model in lines:
        of_line |= Q(resource=resource, model=model)
    if not of_level or not of_line:  # an empty condition would mean every row
        return Quota.objects.none()
    rows: QuerySet[Quota] = Quota.objects.filter(of_level, of_line, organisation_id=organisation_id).order_by("pk")
    return rows


def _locked(organisation_id: UUID, levels: Iterable[Level], lines: Iterable[Line]) -> list[Quota]:
    return list(_rows(organisation_id, levels, lines).select_for_update())


def _add(rows: list[Quota], lines: Mapping[Line, int]) -> None:
    for row in rows:
        row.used += lines[Resource(row.resource), row.model]
    Quota.objects.bulk_update(rows, ["used"])


def _subtract(organisation_id: UUID, levels: Iterable[Level], lines: Mapping[Line, int]) -> None:
    _add(_locked(organisation_id, levels, lines), {line: -amount for line, amount in lines.items()})


def _hold(
    organisation_id: UUID, department_id: UUID | None, user_id: int, lines: Mapping[Line, int], holder: Holder
) -> None:
    place = {"organisation_id": organisation_id, "department_id": department_id, "user_id": user_id}
    held = {(Resource(row.resource), row.model) for row in _holdings(organisation_id, holder)}
    for resource, model in held & set(lines):
        rows = Holding.objects.filter(holder_kind=holder.kind, holder_id=holder.id, resource=resource, model=model)
        rows.update(amount=F("amount") + lines[resource, model])
    Holding.objects.bulk_create(
        [
            Holding(
                **place, holder_kind=holder.kind, holder_id=holder.id, resource=resource, model=model, amount=amount
            )
            for (resource, model), amount in lines.items()
            if (resource, model) not in held
        ]
    )


def _holdings(organisation_id: UUID, holder: Holder | None) -> list[Holding]:
    if holder is None:
        return []
    rows = Holding.objects.filter(organisation_id=organisation_id, holder_kind=holder.kind, holder_id=holder.id)
    return list(rows.select_for_update())


def _take_off_holdings(held: list[Holding], lines: Mapping[Line, int]) -> dict[Line, int]:
    """Deduct `lines` from the holdings; returns how much of each was there to deduct."""
    taken: dict[Line, int] = {}
    for row in held:
        line = (Resource(row.resource), row.model)
        taken[line] = min(row.amount, lines.get(line, 0))
        row.amount -= taken[line]
        if row.amount:
            row.save(update_fields=["amount"])
        else:
            row.delete()
    return {line: amount for line, amount in taken.items() if amount}
