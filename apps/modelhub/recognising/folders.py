"""Models that are a folder: what makes them one is several files together."""

from apps.modelhub.recognising.found import Found, Malformed, clean, facts_of
from apps.modelhub.recognising.reading import MOST_JSON, Budget, Entry, Files, FileView, mapping

_WEIGHTS = (".safetensors", ".bin", ".gguf", ".onnx", ".h5", ".msgpack", ".pt")


def read_saved_model(files: Files, budget: Budget) -> Found | None:
    """TensorFlow's: a message with the version of its schema, 1, and the variables beside it."""
    entry = _named(files, "saved_model.pb")
    if entry is None or FileView(files, entry, budget).head(3) != b"\x08\x01\x12":
        return None
    return Found("saved_model", "TensorFlow")


def read_hugging_face(files: Files, budget: Budget) -> Found | None:
    """A `config.json` that names a kind of model, with weights beside it.

    Code of its own (`auto_map`), and weights in pickles alone, are code that loading executes.
    """
    entry = _named(files, "config.json")
    if entry is None or entry.size > MOST_JSON:
        return None
    folder = entry.path[: -len("config.json")]
    beside = [each for each in files.entries if each.path.startswith(folder) and each.name.endswith(_WEIGHTS)]
    config = mapping(FileView(files, entry, budget).json(0, entry.size))
    kind, classes = config.get("model_type"), config.get("architectures")
    if not beside or not isinstance(kind, str):
        return None
    architecture = classes[0] if isinstance(classes, list) and classes else kind
    facts = facts_of(
        architecture=architecture, version=config.get("transformers_version"), precision=config.get("torch_dtype")
    )
    pickled = all(each.name.endswith((".bin", ".pt")) for each in beside)
    return Found("hugging_face", "Transformers", executes_code=pickled or "auto_map" in config, facts=facts)


def read_paddle(files: Files, budget: Budget) -> Found | None:
    """Parameters, and beside them the program: a message, or JSON since version 3."""
    if not any(each.name.endswith(".pdiparams") for each in files.entries):
        return None
    for each in files.entries:
        view = FileView(files, each, budget)
        if each.name.endswith(".pdmodel") and view.head(1) == b"\x0a":
            return Found("paddle", "PaddlePaddle")
        if each.name.endswith(".json") and b'"base_code"' in view.head(4096):
            version = _paddle_version(view)
            return Found("paddle", "PaddlePaddle", facts=facts_of(version=version))
    return None


def _paddle_version(view: FileView) -> str:
    try:
        return clean(str(mapping(mapping(view.json(0, view.size)).get("base_code")).get("version", "")))
    except Malformed:
        return ""


def _named(files: Files, name: str) -> Entry | None:
    """The one nearest to the top."""
    found = [each for each in files.entries if each.name == name]
    return min(found, key=lambda each: each.path.count("/"), default=None)
