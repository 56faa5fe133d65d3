"""What may be tried: parameters, what contradicts itself in them, and the points of their grid."""

from apps.automl.search.space.contradictions import Problem, problems
from apps.automl.search.space.parameters import Condition, Json, Parameter, ParameterKind, Space, Value, same
from apps.automl.search.space.points import Grid, size

__all__ = [
    "Condition",
    "Grid",
    "Json",
    "Parameter",
    "ParameterKind",
    "Problem",
    "Space",
    "Value",
    "problems",
    "same",
    "size",
]
