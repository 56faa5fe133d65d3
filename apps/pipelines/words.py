"""Words for what became of a pipeline's run and of its steps."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.pipelines.choices import EndReason, Hurdle, Why
from apps.pipelines.graph.steps import Need, When
from apps.pipelines.models import PipelineRun, StepRun

_ENDS: Mapping[EndReason, Promise] = {
    EndReason.BUDGET: gettext_lazy("What is left of its budget does not pay for another step."),
    EndReason.OWNER_LOST: gettext_lazy("Its owner may not start runs any more."),
}
_HURDLES: Mapping[Hurdle, Promise] = {
    Hurdle.QUOTA: gettext_lazy("The next step waits for quota; it starts by itself."),
    Hurdle.FUNDS: gettext_lazy(
        "The balance does not suffice for the next step; it starts once the wallet is topped up."
    ),
    Hurdle.BUDGET: gettext_lazy("What is left of the budget is reserved for the steps that run; the next one follows."),
    Hurdle.FROZEN: gettext_lazy("The organisation is frozen; the next step starts once it is not."),
    Hurdle.UNAVAILABLE: gettext_lazy(
        "Something that the next step needs cannot be reached now; it is tried again by itself."
    ),
}
_WHYS: Mapping[Why, Promise] = {
    Why.CONDITION: gettext_lazy("This did not hold: %(detail)s"),
    Why.UNMEASURED: gettext_lazy("Its run ended without saying this metric: %(detail)s"),
    Why.REFUSED: gettext_lazy("Its run could not be started: %(detail)s"),
    Why.PIPELINE: gettext_lazy("The pipeline was ended before it began."),
}


def why_ended(row: PipelineRun) -> str:
    """A sentence; empty where all of its steps came to their end."""
    reason = EndReason(row.reason)
    if reason is EndReason.BY_PERSON:
        return _("%(who)s stopped it.") % {"who": row.reason_data.get("by") or _("Somebody")}
    return str(_ENDS.get(reason, ""))


def why_waiting(row: PipelineRun) -> str:
    """Why no step is started at the moment; empty where nothing stands in the way."""
    return str(_HURDLES.get(Hurdle(row.hurdle), ""))


def why_step(step: StepRun) -> str:
    """Why it has ended otherwise than by its program; empty for others."""
    return str(_WHYS.get(Why(step.why), "")) % {"detail": step.detail}


def need_words(need: Need) -> str:
    """`train`, `train, if it fails`, `evaluate, if accuracy >= 0.9`."""
    words = {
        When.SUCCEEDED: "%(step)s",
        When.FAILED: _("%(step)s, if it fails"),
        When.ENDED: _("%(step)s, however it ends"),
        When.METRIC: _("%(step)s, if %(bound)s"),
    }
    return words[need.when] % {"step": need.step, "bound": need.bound}
