"""How parameters get into the runs of steps: `${name}` in the values of rows that replace those of the template."""

from collections.abc import Iterator, Mapping

from django.utils.translation import gettext as _

from apps.common.errors import Invalid
from apps.pipelines.fault_words import refuse
from apps.pipelines.graph.faults import LONGEST_VALUE, PLACE
from apps.pipelines.graph.steps import Graph, Step
from apps.training import command
from apps.training.placing import Pair, Placed, PlacedAs, Placement, place


def placed(step: Step, arguments: tuple[Pair, ...], environment: tuple[Pair, ...], values: Mapping[str, str]) -> Placed:
    """The template's rows with those of the step in their places, and its own behind them."""
    rows = {f"{place_as}:{name}": (place_as, name, value) for place_as, name, value in _rows(step)}
    placements = {key: Placement(place_as, name) for key, (place_as, name, _value) in rows.items()}
    texts = {key: filled(value, values) for key, (_place_as, _name, value) in rows.items()}
    return place(arguments, environment, placements, texts)


def filled(text: str, values: Mapping[str, str]) -> str:
    """With the values of its parameters, each of which is known, in their places; what they hold is text alone."""
    return PLACE.sub(lambda found: values[found[1]], text)


def values_for(graph: Graph, given: Mapping[str, str]) -> dict[str, str]:
    """All parameters with what was given, or else as the pipeline has them. Raises `Invalid` (`parameters.<name>`)."""
    unknown = [name for name in given if name not in graph.parameters]
    if unknown:
        words = _("The pipeline has no parameter %(said)s.") % {"said": unknown[0]}
        raise Invalid(words, fields={f"parameters.{name}": words for name in unknown})
    words = _("This value is too long, or holds a character that no program can be given.")
    refuse(
        {f"parameters.{name}": words for name, value in given.items() if len(value) > LONGEST_VALUE or "\0" in value}
    )
    return {**graph.parameters, **given}


def require_placeable(graph: Graph) -> None:
    """Raise `Invalid` for rows that no run could be given, beside their step."""
    fields: dict[str, str] = {}
    for index, step in reversed(list(enumerate(graph.steps))):
        for place_as, name, _value in _rows(step):
            field = "arguments" if place_as is PlacedAs.ARGUMENT else "environment"
            if not Placement(place_as, name).is_valid:
                words = _("%(said)s: name an argument such as --lr or model.lr=, or a variable such as LR.")
                fields[f"steps.{index}.{field}"] = words % {"said": name}
        try:
            command.clean_arguments(step.arguments)
            command.clean_environment(step.environment)
        except Invalid as error:
            fields |= {f"steps.{index}.{name}": str(text) for name, text in error.fields.items()}
    refuse(fields)


def _rows(step: Step) -> Iterator[tuple[PlacedAs, str, str]]:
    yield from ((PlacedAs.ARGUMENT, name, value) for name, value in step.arguments)
    yield from ((PlacedAs.VARIABLE, name, value) for name, value in step.environment)
