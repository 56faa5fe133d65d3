"""Words for the platform's staff.

Data: `node_id`, `name`, `since` (ISO 8601), `workloads`, `by`, `free_mib`; `organisation_id`.
"""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.common.badges import Tone
from apps.common.formatting import memory, sentences
from apps.notifications.words.base import Data, Speaker, Words, link, moment_in, name_in, number_in

NODE, DOCTOR = "console:node", "console:zone_doctor"


def _down(data: Data) -> Words:
    title = _("The node %(name)s is silent") % {"name": name_in(data, "name")}
    count = int(number_in(data, "workloads"))
    text = ngettext(
        "Nothing was heard from it since %(since)s; %(count)s workload was on it.",
        "Nothing was heard from it since %(since)s; %(count)s workloads were on it.",
        count,
    ) % {"since": moment_in(data, "since"), "count": count}
    return Words(title, text, Tone.FAIL, "server-off", action=_("Open"), **link(data, NODE, "node_id"))


def _draining(data: Data) -> Words:
    """For the owner of work on it. Data: `name` of the work, `until` (ISO 8601), `action` (requeue or stop)."""
    title = _("The machine of %(name)s is being emptied") % {"name": name_in(data, "name")}
    until = {"until": moment_in(data, "until")}
    if data.get("action") == "stop":
        text = _("It goes on until %(until)s at most; then it is asked to end. Save what you need.") % until
    else:
        text = _("It goes on until %(until)s at most; then it is asked to end and queued again.") % until
    return Words(title, text, Tone.WARN, "server-cog")


def _back(data: Data) -> Words:
    title = _("The node %(name)s is back") % {"name": name_in(data, "name")}
    text = _("It reports again and takes work.")
    return Words(title, text, Tone.RUN, "server", action=_("Open"), **link(data, NODE, "node_id"))


def _replaced(data: Data) -> Words:
    """Data: `kind` and `instance` of the process, `silent_s`, `at` (ISO 8601)."""
    title = _("The process %(name)s was replaced") % {"name": name_in(data, "kind")}
    text = _(
        "On %(instance)s it lived and did nothing for %(seconds)s s, until %(at)s. Running work was not touched. "
        "Look at its log if this happens again."
    ) % {
        "instance": name_in(data, "instance"),
        "seconds": int(number_in(data, "silent_s")),
        "at": moment_in(data, "at"),
    }
    return Words(title, text, Tone.WARN, "refresh-alert", "console:processes", _("Open"))


def _disk_low(data: Data) -> Words:
    title = _("The disk of %(name)s is nearly full") % {"name": name_in(data, "name")}
    text = _("%(free)s are free. Nothing new is taken before there is more, and runs that fill it up are ended.")
    text %= {"free": memory(int(number_in(data, "free_mib")))}
    return Words(title, text, Tone.FAIL, "database", action=_("Open"), **link(data, NODE, "node_id"))


def _disk_ok(data: Data) -> Words:
    title = _("The disk of %(name)s has room again") % {"name": name_in(data, "name")}
    text = _("%(free)s are free.") % {"free": memory(int(number_in(data, "free_mib")))}
    return Words(title, text, Tone.RUN, "database", action=_("Open"), **link(data, NODE, "node_id"))


def _storage_lost(data: Data) -> Words:
    """Data: `problem` as in `clusters.node_storage.StorageProblem`, "" for files that are not there at all."""
    title = _("%(name)s has lost its storage") % {"name": name_in(data, "name")}
    text = _("Nothing new starts there; %(count)s tasks are on it. The node's page says what is wrong.")
    text %= {"count": int(number_in(data, "workloads"))}
    return Words(title, text, Tone.FAIL, "folder", action=_("Open"), **link(data, NODE, "node_id"))


def _storage_back(data: Data) -> Words:
    title = _("%(name)s has its storage again") % {"name": name_in(data, "name")}
    text = _("It takes new work again.")
    return Words(title, text, Tone.RUN, "folder", action=_("Open"), **link(data, NODE, "node_id"))


def _nodes_unproved(data: Data) -> Words:
    """Data: `zone_id`, `name` of the zone, `nodes`: the first few names, `count` of all."""
    count = int(number_in(data, "count"))
    title = ngettext("%(count)s node of %(name)s takes no work", "%(count)s nodes of %(name)s take no work", count) % {
        "count": count,
        "name": name_in(data, "name"),
    }
    names = ", ".join(map(str, _items(data, "nodes")))
    text = _(
        "The check-up could not prove that work can run on %(nodes)s. It says what is wrong and what mends it; the "
        "nodes are tried again from time to time, and at once when you have the cluster examined."
    ) % {"nodes": names if count <= len(_items(data, "nodes")) else f"{names}, …"}
    return Words(title, text, Tone.FAIL, "stethoscope", action=_("Open"), **link(data, DOCTOR, "zone_id"))


def _loses_work(data: Data) -> Words:
    title = _("%(name)s loses work and takes no more") % {"name": name_in(data, "name")}
    text = _(
        "%(count)s tries in a row were lost there before their programs began. Their work goes to other nodes. The "
        "node is tried again after half an hour, or when you let it take work on its page."
    ) % {"count": int(number_in(data, "count"))}
    return Words(title, text, Tone.FAIL, "shield-x", action=_("Open"), **link(data, NODE, "node_id"))


def _card_fault(data: Data) -> Words:
    """Data: `index` and `model` of the card, `codes` of its faults."""
    card = {"name": name_in(data, "name"), "index": int(number_in(data, "index")), "model": name_in(data, "model")}
    codes = ", ".join(str(code) for code in _items(data, "codes"))
    title = _("Card %(index)s of %(name)s has reported a fault: XID %(codes)s") % {**card, "codes": codes}
    text = _(
        "Nothing new starts on this %(model)s until it was reset or its node restarted; the node's page says what to "
        "do. The other cards go on."
    )
    return Words(title, text % card, Tone.FAIL, "cpu-off", action=_("Open"), **link(data, NODE, "node_id"))


def _cards_unhealthy(data: Data) -> Words:
    """Data: `cards`, the numbers of the cards."""
    cards = _items(data, "cards")
    words = {"count": len(cards), "name": name_in(data, "name")}
    title = ngettext(
        "%(count)s card of %(name)s is not healthy", "%(count)s cards of %(name)s are not healthy", len(cards)
    )
    text = ngettext(
        "Card %(cards)s: nothing new starts on it. The node's page says why. Other cards go on.",
        "Cards %(cards)s: nothing new starts on them. The node's page says why. Other cards go on.",
        len(cards),
    ) % {"cards": ", ".join(map(str, cards))}
    return Words(title % words, text, Tone.FAIL, "cpu-off", action=_("Open"), **link(data, NODE, "node_id"))


def _cards_healthy(data: Data) -> Words:
    cards = _items(data, "cards")
    words = {"count": len(cards), "name": name_in(data, "name"), "cards": ", ".join(map(str, cards))}
    title = ngettext(
        "%(count)s card of %(name)s is healthy again", "%(count)s cards of %(name)s are healthy again", len(cards)
    )
    text = ngettext("Card %(cards)s takes work again.", "Cards %(cards)s take work again.", len(cards))
    return Words(title % words, text % words, Tone.RUN, "cpu", action=_("Open"), **link(data, NODE, "node_id"))


def _items(data: Data, name: str) -> list[object]:
    found = data.get(name)
    return found if isinstance(found, list) else []


def _lost(data: Data) -> Words:
    title = _("The node %(name)s is lost") % {"name": name_in(data, "name")}
    by = str(data.get("by") or "")
    how = _("It was silent for too long.") if not by else _("%(by)s declared it lost.") % {"by": by}
    count = int(number_in(data, "workloads"))
    text = ngettext(
        "Last heard at %(since)s. %(count)s workload was on it: it is charged up to its last proof and queued again.",
        "Last heard at %(since)s. %(count)s workloads were on it: they are charged up to their last proof and queued "
        "again.",
        count,
    ) % {"since": moment_in(data, "since"), "count": count}
    if not count:
        text = _("Last heard at %(since)s. Nothing was on it.") % {"since": moment_in(data, "since")}
    return Words(title, sentences(how, text), Tone.FAIL, "server-off", action=_("Open"), **link(data, NODE, "node_id"))


def _returned(data: Data) -> Words:
    title = _("The lost node %(name)s has returned") % {"name": name_in(data, "name")}
    count = int(number_in(data, "workloads"))
    text = ngettext(
        "What it still ran of %(count)s workload was ended first. It takes work again unless it is cordoned.",
        "What it still ran of %(count)s workloads was ended first. It takes work again unless it is cordoned.",
        count,
    ) % {"count": count}
    if not count:
        text = _("Nothing was left on it. It takes work again unless it is cordoned.")
    return Words(title, text, Tone.RUN, "server", action=_("Open"), **link(data, NODE, "node_id"))


def _standstill(data: Data) -> Words:
    """Data: `workloads`, `since` (ISO 8601), `world` ("real" or "simulated")."""
    count = int(number_in(data, "workloads"))
    text = ngettext(
        "%(count)s workload has waited beside free room since %(since)s. What was promised to others has been "
        "forgotten so that the queue goes on. Please report this: it is a fault of the scheduler.",
        "%(count)s workloads have waited beside free room since %(since)s. What was promised to them and others has "
        "been forgotten so that the queue goes on. Please report this: it is a fault of the scheduler.",
        count,
    ) % {"count": count, "since": moment_in(data, "since")}
    return Words(_("The queue stood still"), text, Tone.FAIL, "player-pause", "console:queue", _("Open"))


def _registered(data: Data) -> Words:
    title = _("%(name)s has registered") % {"name": name_in(data, "name")}
    text = _("A new organisation, made by %(by)s.") % {"by": name_in(data, "by")}
    target = link(data, "console:organisation", "organisation_id")
    return Words(title, text, Tone.WAIT, "building", action=_("Open"), **target)


def _test(data: Data) -> Words:
    return Words(_("A test"), _("This way of telling you works."), Tone.RUN, "circle-check")


KINDS: Mapping[str, Speaker] = {
    "node.draining": _draining,
    "card.fault": _card_fault,
    "card.unhealthy": _cards_unhealthy,
    "card.healthy": _cards_healthy,
    "node.disk_low": _disk_low,
    "node.disk_ok": _disk_ok,
    "node.storage_lost": _storage_lost,
    "node.storage_back": _storage_back,
    "zone.nodes_unproved": _nodes_unproved,
    "node.loses_work": _loses_work,
    "node.down": _down,
    "node.back": _back,
    "process.replaced": _replaced,
    "queue.standstill": _standstill,
    "node.lost": _lost,
    "node.returned": _returned,
    "organisation.registered": _registered,
    "test": _test,
}
