"""Scripts that a service of a model may begin with: how each format is loaded, and what its answer looks like.

They read the model from `PLSTACK_MODEL`. The image has to have the library that they import; the log of a replica says
where it does not.
"""

from collections.abc import Mapping

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
_BY_FORMAT: Mapping[str, tuple[str, str]] = {
    Format.ONNX: (f"{_NUMPY}\nimport onnxruntime", _ONNX),
    Format.SKOPS: (f"{_NUMPY}\nimport skops.io", _ESTIMATOR.format(load=_SKOPS)),
    Format.PICKLE: (
        f"import joblib\n{_NUMPY}",
        _ESTIMATOR.format(
            load="# A pickle runs whatever code it holds: only of whom you trust.\n    "
            'return joblib.load(found(".joblib", ".pkl", ".pickle"))'
        ),
    ),
    Format.XGBOOST: (
        f"{_NUMPY}\nimport xgboost",
        _BOOSTER.format(
            load='booster = xgboost.Booster()\n    booster.load_model(found(".json", ".ubj"))\n    return booster',
            given='xgboost.DMatrix(np.asarray(inputs["inputs"]))',
        ),
    ),
    Format.LIGHTGBM: (
        f"import lightgbm\n{_NUMPY}",
        _BOOSTER.format(load='return lightgbm.Booster(model_file=found(".txt"))', given='np.asarray(inputs["inputs"])'),
    ),
    Format.TORCHSCRIPT: ("import torch", _TORCHSCRIPT),
    Format.HUGGING_FACE: ("import transformers", _TRANSFORMERS),
}


def script_for(version: ModelVersion) -> str:
    """A script that loads this version; for a format without one, a frame to fill in."""
    imports, body = _BY_FORMAT.get(version.format, ("", _ANY))
    return (_HEAD.format(title=f"Serves {version}.", imports=imports) + body).replace("\n\n\n\n", "\n\n\n")
