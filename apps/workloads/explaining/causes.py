"""Every cause in words: what is the matter, and what follows for who has submitted or only asks about submitting."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.clusters.architectures import architecture_words
from apps.common.formatting import cores, gpu_memory, memory, moment, sentences
from apps.tenants.choices import Resource
from apps.tenants.quotas import amount_text, line_words
from apps.workloads.choices import HELD_BACK, Reason
from apps.workloads.explaining.cases import Case, Words
from apps.workloads.explaining.shortages import shortage, would_start_words
from scheduler import ANY_MODEL, CauseCode, Mode, QueueLevel

# Causes that no waiting removes: the package is on offer, but nothing here could ever run it.
HOPELESS = frozenset(
    {
        CauseCode.NO_NODES,
        CauseCode.ZONE,
        CauseCode.CLUSTER,
        CauseCode.RESERVED,
        CauseCode.ARCH,
        CauseCode.RDMA,
        CauseCode.NEVER_FITS,
        CauseCode.NO_SUCH_MODEL,
        CauseCode.NO_SUCH_MODE,
        CauseCode.BAD_REQUEST,
        Reason.ISOLATION.value,
    }
)


def words_of(case: Case) -> Words:
    """Unknown causes, as of a newer version, are told as waiting for room."""
    if not case.cause:
        return Words(_("Waiting for the scheduler"), _("The next pass looks at it within seconds."))
    known = _WORDS.get(case.cause)
    words = known(case) if known else Words(_("Waiting"), _("The scheduler has not found room yet."))
    return replace(words, text=sentences(words.text, _rdma_nodes(case)))


def _rdma_nodes(case: Case) -> str:
    """Of what asks for RDMA, which machines have it; "" for anything else."""
    names, others = case.names.rdma, int(case.params.get("rdma_count", 0)) - len(case.names.rdma)
    if not names:
        return ""
    if others > 0:
        text = ngettext(
            "It needs RDMA, which these machines have: %(names)s and %(count)s other.",
            "It needs RDMA, which these machines have: %(names)s and %(count)s others.",
            others,
        )
        return text % {"names": ", ".join(names), "count": others}
    return _("It needs RDMA, which these machines have: %(names)s.") % {"names": ", ".join(names)}


def _choose_another(case: Case) -> str:
    """What to do about a package that can never start here."""
    if case.offered:
        return _("Whoever chooses it waits for ever: add a machine that can run it, or change or withdraw the package.")
    if case.asked:
        return _("Choose another package, or ask the platform's administrators.")
    return _("Take it out of the queue and choose another package, or ask the platform's administrators.")


def _no_nodes(case: Case) -> Words:
    text = _choose_another(case) if case.offered else _("The platform's administrators have to add one.")
    return Words(_("There is no machine yet"), text)


def _zone(case: Case) -> Words:
    return Words(_("Zone %(name)s has no machine") % {"name": case.names.zone or "—"}, _choose_another(case))


def _cluster(case: Case) -> Words:
    return Words(_("Cluster %(name)s has no machine") % {"name": case.names.cluster or "—"}, _choose_another(case))


def _reserved(case: Case) -> Words:
    if case.names.cluster:
        title = _("Your organisation may not use the cluster %(name)s") % {"name": case.names.cluster}
        return Words(title, _("Choose another cluster or none, or ask the platform's administrators."))
    return Words(_("The machines that could run this are reserved for other organisations"), _choose_another(case))


def _arch(case: Case) -> Words:
    names = str(case.params.get("arch", "")).split("|")
    title = _("The image is for %(arch)s, and no machine with that architecture can run this")
    text = _("Choose another image, or another package.")
    if not case.asked:
        text = _("Take it out of the queue and choose another image, or another package.")
    return Words(title % {"arch": architecture_words(names) or "—"}, text)


def _rdma(case: Case) -> Words:
    return Words(_("No machine with RDMA devices can run this"), _choose_another(case))


def _rdma_down(case: Case) -> Words:
    text = (
        _("It would start when one of their links is up again.")
        if case.asked
        else _("It starts when one of their links is up again.")
    )
    return Words(_("The RDMA links of the machines that fit are down"), text)


def _no_such_model(case: Case) -> Words:
    model = _model(case)
    title = _("No machine has this GPU model: %(model)s") % {"model": model} if model else _("No machine has a GPU")
    return Words(title, _choose_another(case))


def _no_such_mode(case: Case) -> Words:
    model = {"model": _model(case) or _("card"), "profile": case.params.get("profile", "")}
    title = {
        Mode.WHOLE: _("No %(model)s is handed out whole"),
        Mode.SHARED: _("No %(model)s is handed out shared"),
        Mode.VGPU: _("No %(model)s is handed out as vGPU"),
        Mode.MIG: _("No %(model)s is partitioned by MIG for %(profile)s"),
    }.get(case.params.get("mode", ""), _("No card is split this way"))
    return Words(title % model, _choose_another(case))


def _model(case: Case) -> str:
    """The models that would do; "" for any."""
    models = str(case.params.get("model") or (case.gpu.model if case.gpu else "") or "")
    return models.replace("|", " / ")


def _never_fits(case: Case) -> Words:
    members = case.params.get("members")
    if members:
        title = ngettext(
            "%(count)s member could never run at once", "%(count)s members could never run at once", int(members)
        )
        return Words(title % {"count": members}, sentences(_apart(case), _choose_another(case)))
    asked = {
        "cpu": cores(case.params.get("cpu_milli")),
        "memory": memory(case.params.get("memory_mib")),
        "cards": _cards(case),
    }
    size = _("Even empty, none has %(cpu)s CPU and %(memory)s beside %(cards)s.")
    if not asked["cards"]:
        size = _("Even empty, none has %(cpu)s CPU and %(memory)s.")
    return Words(_("No machine is large enough"), sentences(size % asked, _choose_another(case)))


def _cards(case: Case) -> str:
    """The cards or pieces of cards that are asked for: "8 × H100", "1 × A30 3g.40gb", "1 × A30 48 GB"; "" for none."""
    count, gpu, size = case.params.get("devices", 0), case.gpu, ""
    if not count:
        return ""
    if gpu is not None and gpu.mode != Mode.WHOLE:
        size = gpu.profile or gpu_memory(gpu.memory_mib)
    return f"{count} × {_model(case) or _('GPU')} {size}".rstrip()


def _node_unschedulable(case: Case) -> Words:
    return Words(
        _("The machines that fit take no new work"),
        _("They are closed for now, by the administrators or until a check has proved them."),
    )


def _node_unhealthy(case: Case) -> Words:
    text = _("It would start when one of them is back.") if case.asked else _("It starts when one of them is back.")
    return Words(_("The machines that fit do not answer"), text)


def _gang(case: Case) -> Words:
    room, members = int(case.params.get("nodes_with_room", 0)), case.params.get("members", 0)
    title = ngettext(
        "Only %(count)s machine has room for a member", "Only %(count)s machines have room for a member", room
    )
    text = _("All %(members)s members start together or not at all.") % {"members": members}
    return Words(title % {"count": room}, sentences(text, _apart(case), would_start_words(case)))


def _apart(case: Case) -> str:
    """What keeps members from spreading over machines; "" for nothing."""
    if not case.params.get("apart"):
        return ""
    return _("No network joins these machines for members of one workload, so all of them must be on one machine.")


def _quota(case: Case) -> Words:
    """Whose quota, and how much of it is used. The organisation's own quota of its tenant, never another's."""
    params = case.params
    whose = {
        QueueLevel.USER: _("Your quota is used up"),
        QueueLevel.DEPARTMENT: _("Your department's quota is used up"),
        QueueLevel.ORGANISATION: _("Your organisation's quota is used up"),
    }.get(params.get("level", ""), _("The quota is used up"))
    text = (
        _("It would start when other work ends, or when the quota is raised.")
        if case.asked
        else _("It starts when other work ends, or when the quota is raised.")
    )
    if "limit" not in params:
        return Words(whose, text)
    resource, model = _resource(str(params.get("resource", "")))
    used = _("%(what)s: %(used)s of %(limit)s in use, %(asked)s asked for.") % {
        "what": line_words(resource, model),
        "used": amount_text(resource, int(params["used"])),
        "limit": amount_text(resource, int(params["limit"])),
        "asked": amount_text(resource, int(params.get("asked", 0))),
    }
    return Words(whose, sentences(used, text))


def _resource(name: str) -> tuple[Resource, str]:
    """The quota's resource and GPU model for the scheduler's name of it: cards go by their model."""
    if name in (Resource.CPU_MILLI, Resource.MEMORY_MIB):
        return Resource(name), ""
    return Resource.GPU_MILLI, "" if name == ANY_MODEL else name


def _fair_share(case: Case) -> Words:
    text = (
        _("It would start when your organisation's turn comes.")
        if case.asked
        else _("It starts when your organisation's turn comes.")
    )
    return Words(_("Others have waited for their share"), text)


def _behind_reservation(case: Case) -> Words:
    title = _("Room is being kept for work ahead of this")
    if case.names.node:
        title = _("Room on %(node)s is being kept for work ahead of this") % {"node": case.names.node}
    start = case.params.get("start_p50")
    if start is None:
        return Words(title, _("Starting this now would delay it."))
    when = moment(datetime.fromtimestamp(start, UTC))
    return Words(title, _("That should start at %(when)s, and starting this now would delay it.") % {"when": when})


def _waiting_for_victims(case: Case) -> Words:
    title = _("Others are giving way")
    if case.names.node:
        title = _("Others on %(node)s are giving way") % {"node": case.names.node}
    if case.asked:
        return Words(title, _("They would be asked to save their work; it would start next."))
    return Words(title, _("They are saving their work; it starts next."))


def _bad_request(case: Case) -> Words:
    what = {"field": case.params.get("field", "—")}
    return Words(_("The request cannot be understood: %(field)s") % what, _choose_another(case))


def _isolation(case: Case) -> Words:
    return Words(
        _("This machine cannot keep organisations apart"),
        _("It serves another organisation. The platform's administrators can change that."),
    )


def _held_back(_case: Case) -> Words:
    return Words(_("It waits for other work to end"), _("Then it comes into the queue. Nothing is charged meanwhile."))


_WORDS: Mapping[str, Callable[[Case], Words]] = {
    CauseCode.NO_NODES: _no_nodes,
    CauseCode.ZONE: _zone,
    CauseCode.CLUSTER: _cluster,
    CauseCode.RESERVED: _reserved,
    CauseCode.ARCH: _arch,
    CauseCode.RDMA: _rdma,
    CauseCode.NO_SUCH_MODEL: _no_such_model,
    CauseCode.NO_SUCH_MODE: _no_such_mode,
    CauseCode.NEVER_FITS: _never_fits,
    CauseCode.NODE_UNSCHEDULABLE: _node_unschedulable,
    CauseCode.NODE_UNHEALTHY: _node_unhealthy,
    CauseCode.RDMA_DOWN: _rdma_down,
    CauseCode.CPU: shortage,
    CauseCode.MEMORY: shortage,
    CauseCode.DEVICES: shortage,
    CauseCode.SLICES: shortage,
    CauseCode.GANG: _gang,
    CauseCode.QUOTA: _quota,
    CauseCode.FAIR_SHARE: _fair_share,
    CauseCode.BEHIND_RESERVATION: _behind_reservation,
    CauseCode.WAITING_FOR_VICTIMS: _waiting_for_victims,
    CauseCode.BAD_REQUEST: _bad_request,
    Reason.ISOLATION.value: _isolation,
    HELD_BACK: _held_back,
}
