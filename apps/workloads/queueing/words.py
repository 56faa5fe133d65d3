"""Giving way in words: for whom, when, and what came of it. Never a name of another organisation's."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from apps.common.formatting import duration, moment
from apps.common.money import yuan
from apps.workloads.choices import PreemptionWhy
from apps.workloads.queueing.contract import Contract, ContractClass

HIGHEST = 5


def gave_way(data: Mapping[str, Any]) -> str:
    """One event of a pre-emption (`preempting.EVENT`) as a sentence."""
    if data.get("act") == "called_off":
        return _("It may stay: the room is not needed any more")
    if data.get("act") == "credited":
        return credited(data)
    return _("Asked to give way at %(time)s %(whom)s") % {
        "time": moment(moment_of(data, "leave_at")),
        "whom": for_whom(str(data.get("why", "")), data.get("priority")),
    }


def room_kept(data: Mapping[str, Any]) -> str:
    """One event of a promise (`promises.EVENT`): room is kept on a machine, on another one, or no more."""
    was, now = (", ".join(map(str, data.get(key) or [])) for key in ("was", "now"))
    words = {"node": now or was or _("a machine that was removed"), "before": was or _("a machine that was removed")}
    if not now:
        return _("Room is no longer kept for it on %(node)s") % words
    if not data.get("was"):
        return _("Room is kept for it on %(node)s, from when enough is freed") % words
    return _("Room is kept for it on %(node)s now, no longer on %(before)s") % words


def for_whom(why: str, priority: int | None = None) -> str:
    """`for a task of your organisation with priority 5`, `for another organisation's guarantee`."""
    if why == PreemptionWhy.GUARANTEE:
        return _("for another organisation's guarantee")
    if priority is None:
        return _("for a task of your organisation with a higher priority")
    return _("for a task of your organisation with priority %(number)s") % {"number": priority}


def credited(data: Mapping[str, Any]) -> str:
    """What was given back for lost work, of an event that bears `lost_s` and `credited_fen`."""
    words = {
        "time": duration(float(data.get("lost_s") or 0)),
        "amount": yuan(int(data.get("credited_fen") or 0)),
    }
    if data.get("credited_fen"):
        return _("Credited %(amount)s: the %(time)s of work since the last checkpoint are not charged") % words
    return _("It had worked for %(time)s since the last checkpoint; nothing was charged for that") % words


def moment_of(data: Mapping[str, Any], key: str) -> datetime | None:
    value = data.get(key)
    return parse_datetime(value) if isinstance(value, str) else None


def contract_title(contract: Contract) -> str:
    return {
        ContractClass.GUARANTEED: _("Guaranteed"),
        ContractClass.OVER_GUARANTEE: _("May be asked to give way"),
        ContractClass.UNINTERRUPTIBLE: _("Is not interrupted"),
        ContractClass.FIRM: _("May be taken back"),
    }[contract.kind]


def contract_lines(contract: Contract) -> list[str]:
    """What the contract says, a sentence each: who may ask, how, and what it costs."""
    if not contract.may_be_asked:
        return [_("Nobody takes its place, whatever their priority. It may wait longer for its own start.")]
    times = {
        "least": duration(contract.min_runtime_s),
        "notice": duration(contract.notice_s),
        "save": duration(contract.save_window_s),
    }
    spared = _("Not in its first %(least)s. ") % times if contract.min_runtime_s else ""
    return [
        _who_may_ask(contract),
        spared + _("It is told %(notice)s before, then has %(save)s to save.") % times,
        _("It is queued again, first in line. Work since its last checkpoint is not charged."),
    ]


def _who_may_ask(contract: Contract) -> str:
    number = {"number": contract.priority}
    if contract.kind is ContractClass.FIRM:
        return _(
            "Nobody of your organisation takes its place. It is beyond your organisation's guarantee: another "
            "organisation's guarantee may take it back."
        )
    if contract.kind is ContractClass.GUARANTEED:
        if contract.priority == HIGHEST:
            return _("It is inside your organisation's guarantee and has the highest priority: nothing goes before it.")
        return (
            _(
                "Only a task of your organisation with a priority above %(number)s may take its place: it is inside "
                "your organisation's guarantee."
            )
            % number
        )
    if contract.priority == HIGHEST:
        return _("Only another organisation's guarantee may take its place.")
    return (
        _(
            "A task of your organisation with a priority above %(number)s may take its place, or another "
            "organisation's guarantee."
        )
        % number
    )
