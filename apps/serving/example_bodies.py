"""A body that the script of a model answers, for whoever tries a service and for what programs copy."""

import json
import math
from collections.abc import Mapping
from typing import Any

from apps.modelhub.models import ModelVersion

PLAIN = {"inputs": [1, 2, 3]}
MOST_VALUES = 200
FEATURES = 4
_FIRST_VALUES: Mapping[str, Any] = {"BOOL": False, "BYTES": "text"}


def body_for(version: ModelVersion | None) -> Any:
    """As JSON values: a zero in each place of each tensor that the model names, an empty list for a large one."""
    if version is None:
        return PLAIN
    tensors = version.signature.get("inputs", ())
    if tensors:
        return {each["name"]: _filled(each["datatype"], each["shape"]) for each in tensors}
    features = version.facts.get("features") or FEATURES
    return {"inputs": [[0.0] * features]} if features <= MOST_VALUES else {"inputs": []}


def as_text(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False)


def _filled(datatype: str, shape: list[int]) -> Any:
    sizes = [1 if size < 0 else size for size in shape]
    if not 0 < math.prod(sizes) <= MOST_VALUES:
        return []
    value = _FIRST_VALUES.get(datatype, 0.0 if datatype.startswith("FP") else 0)
    for size in reversed(sizes):
        value = [value] * size
    return value
