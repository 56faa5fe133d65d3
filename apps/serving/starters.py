"""Scripts that a service of a model may begin with: how each format is loaded, and what its answer looks like.

They read the model from `PLSTACK_MODEL`. The image has to have the packages that they need (`suited`); the log of a
replica says where it does not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pprint import pformat

from apps.modelhub.choices import Format
from apps.modelhub.models import ModelVersion

_HEAD = '''"""{title}"""

import os
from pathlib import Path

{imports}

MODEL = Path(os.environ["PLSTACK_MODEL"])


def found(*endings):
    """The first file of the model that ends so."""
    return next(str(path) for path in sorted(MODEL.rglob("*")) if path.name.endswith(endings))

'''

_ONNX = """
def load():
    return onnxruntime.InferenceSession(found(".onnx"), providers=onnxruntime.get_available_providers())


def predict(session, inputs):
    \"\"\"A dict of arrays by the names of the model's inputs.\"\"\"
    kinds = {each.name: _KINDS.get(each.type, np.float32) for each in session.get_inputs()}
    given = {name: np.asarray(values, dtype=kinds[name]) for name, values in inputs.items() if name in kinds}
    if set(given) != set(kinds):
        raise ValueError(f"the model's inputs are {', '.join(kinds)}")
    return dict(zip((each.name for each in session.get_outputs()), session.run(None, given)))


_KINDS = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64,
          "tensor(int32)": np.int32, "tensor(bool)": bool, "tensor(string)": object}
"""

_ESTIMATOR = """
def load():
    {load}


def predict(model, inputs):
    \"\"\"{{"inputs": [[…], …]}}: a row for each thing to judge.\"\"\"
    rows = np.asarray(inputs["inputs"])
    answer = {{"outputs": model.predict(rows)}}
    if hasattr(model, "predict_proba"):
        answer["probabilities"] = model.predict_proba(rows)
    return answer
"""

_BOOSTER = """
def load():
    {load}


def predict(model, inputs):
    \"\"\"{{"inputs": [[…], …]}}: a row for each thing to judge.\"\"\"
    return {{"outputs": model.predict({given})}}
"""

_TORCHSCRIPT = """
def load():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.jit.load(found(".pt", ".pth", ".ts"), map_location=device).eval(), device


def predict(model, inputs):
    \"\"\"{"inputs": […]}: one tensor as nested lists.\"\"\"
    module, device = model
    with torch.inference_mode():
        answer = module(torch.tensor(inputs["inputs"], device=device))
    return {"outputs": answer.cpu().numpy()}
"""

_TRANSFORMERS = """
def load():
    return transformers.pipeline(model=str(MODEL), device_map="auto")


def predict(pipeline, inputs):
    \"\"\"{"inputs": "text"}, and further arguments of the pipeline beside it.\"\"\"
    return {"outputs": pipeline(inputs.pop("inputs"), **inputs)}
"""

_ANY = """
def load():
    \"\"\"Read the model from the folder MODEL; what is returned is predict's first argument.\"\"\"
    return sorted(str(path.relative_to(MODEL)) for path in MODEL.rglob("*") if path.is_file())


def predict(model, inputs):
    return {"files": model, "inputs": inputs}
"""

_NUMPY = "import numpy as np"
_SKOPS = """names = skops.io.get_untrusted_types(file=found(".skops"))
    if names:  # list here what you trust, after you have read it
        raise RuntimeError(f"the model names types that nobody has trusted yet: {names}")
    return skops.io.load(found(".skops"), trusted=names)"""


@dataclass(frozen=True, slots=True)
class Starter:
    """`needs`: names of packages as indexes have them, each with others that bring the same modules."""

    imports: str
    body: str
    needs: tuple[frozenset[str], ...] = ()


_SKLEARN, _TORCH = frozenset({"scikit-learn"}), frozenset({"torch"})
_BY_FORMAT: Mapping[str, Starter] = {
    Format.ONNX: Starter(f"{_NUMPY}\nimport onnxruntime", _ONNX, (frozenset({"onnxruntime", "onnxruntime-gpu"}),)),
    Format.SKOPS: Starter(
        f"{_NUMPY}\nimport skops.io", _ESTIMATOR.format(load=_SKOPS), (frozenset({"skops"}), _SKLEARN)
    ),
    Format.PICKLE: Starter(
        f"import joblib\n{_NUMPY}",
        _ESTIMATOR.format(
            load="# A pickle runs whatever code it holds: only of whom you trust.\n    "
            'return joblib.load(found(".joblib", ".pkl", ".pickle"))'
        ),
        (_SKLEARN,),
    ),
    Format.XGBOOST: Starter(
        f"{_NUMPY}\nimport xgboost",
        _BOOSTER.format(
            load='booster = xgboost.Booster()\n    booster.load_model(found(".json", ".ubj"))\n    return booster',
            given='xgboost.DMatrix(np.asarray(inputs["inputs"]))',
        ),
        (frozenset({"xgboost", "xgboost-cpu"}),),
    ),
    Format.LIGHTGBM: Starter(
        f"import lightgbm\n{_NUMPY}",
        _BOOSTER.format(load='return lightgbm.Booster(model_file=found(".txt"))', given='np.asarray(inputs["inputs"])'),
        (frozenset({"lightgbm"}),),
    ),
    Format.TORCHSCRIPT: Starter("import torch", _TORCHSCRIPT, (_TORCH,)),
    Format.HUGGING_FACE: Starter("import transformers", _TRANSFORMERS, (frozenset({"transformers"}), _TORCH)),
}
_FRAME = Starter("", _ANY)


def starter_of(version: ModelVersion) -> Starter:
    """For a format without one, a frame to fill in."""
    return _BY_FORMAT.get(version.format, _FRAME)


def script_for(version: ModelVersion) -> str:
    """A script that loads this version and names its tensors, as far as its files do."""
    starter = starter_of(version)
    signature = f"\nSIGNATURE = {pformat(version.signature, width=110)}\n" if version.signature else ""
    text = _HEAD.format(title=f"Serves {version}.", imports=starter.imports) + signature + starter.body
    return text.replace("\n\n\n\n", "\n\n\n")
