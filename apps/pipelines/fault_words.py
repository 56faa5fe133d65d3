"""Sentences for what is wrong with a graph, beside its fields."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.pipelines.graph.faults import Fault, faults
from apps.pipelines.graph.steps import Graph

_WORDS: Mapping[str, Promise] = {
    "no_steps": _("A pipeline has at least one step."),
    "too_many_steps": _("At most %(said)s steps."),
    "too_many_parameters": _("At most %(said)s parameters."),
    "step_name": _("A name of up to 40 small letters, digits, - and _, such as train or eval-2."),
    "step_twice": _("Another step has this name already."),
    "no_template": _("Choose the run that this step is like."),
    "needs_itself": _("A step cannot need itself."),
    "unknown_step": _("There is no step %(said)s."),
    "need_twice": _("The same need stands there twice."),
    "bound_value": _("%(said)s: the bound has to be a finite number."),
    "bound_metric": _("%(said)s: name the metric as the run says it."),
    "input_not_needed": _("%(said)s is not among what this step needs."),
    "retries": _("From 0 to %(said)s."),
    "pause": _("From 0 to %(said)s seconds."),
    "too_many_rows": _("No more than %(said)s."),
    "row_twice": _("%(said)s is set twice."),
    "unknown_parameter": _("The pipeline has no parameter %(said)s."),
    "parameter_name": _("Letters, digits and _ only, not beginning with a digit, up to 40."),
    "parameter_value": _("This value is too long, or holds a character that no program can be given."),
    "cycle": _("These steps wait for each other: %(said)s."),
}


def require_sound(graph: Graph) -> None:
    """Raise `Invalid` that names every field at fault: `steps.<index>.<field>`, `parameters.<index>.<field>`."""
    refuse({_field(each): words_of(each) for each in reversed(faults(graph))})


def refuse(fields: Mapping[str, str]) -> None:
    """Raise `Invalid` unless there are none; its sentence is that of the field which was found first."""
    if fields:
        raise Invalid(list(fields.values())[-1], fields=dict(fields))


def words_of(fault: Fault) -> str:
    return str(_WORDS[fault.code]) % {"said": fault.said}


def _field(fault: Fault) -> str:
    if fault.index is None:
        return fault.field
    return f"{'parameters' if fault.of_parameter else 'steps'}.{fault.index}.{fault.field}"
