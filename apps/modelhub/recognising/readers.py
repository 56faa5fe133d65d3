"""Which kind of model the files of a folder are: folders first, then files, those at the top and the largest first."""

from collections.abc import Callable

from apps.modelhub.recognising import folders, onnx, pickles, texts, weights, zips
from apps.modelhub.recognising.found import Found, Malformed
from apps.modelhub.recognising.reading import Budget, Entry, Files, FileView

MOST_FILES = 60
UNKNOWN = Found("unknown")

_FOLDERS: tuple[Callable[[Files, Budget], Found | None], ...] = (
    folders.read_saved_model,
    folders.read_hugging_face,
    folders.read_paddle,
)
# Magic numbers first; what has none, and could be mistaken, last.
_FILES: tuple[Callable[[FileView], Found | None], ...] = (
    weights.read_gguf,
    zips.read,
    texts.read_keras,
    texts.read_lightgbm,
    texts.read_xgboost,
    weights.read_safetensors,
    texts.read_pmml,
    onnx.read,
    texts.read_mindspore,
    pickles.read,
)


def recognise(files: Files) -> Found:
    """`UNKNOWN` where no reader knows them. Never raises, and takes a bounded time whatever the files hold.

    Several files may each be a model, as of an ensemble: the answer is that of the first, but where any of them
    executes code when it is loaded, the whole does.
    """
    budget = Budget()
    for of_folder in _FOLDERS:
        try:
            found = of_folder(files, budget)
        except Malformed:
            continue
        if found is not None:
            return found
    answers = [found for entry in _in_order(files) if (found := _of_file(FileView(files, entry, budget))) is not None]
    if not answers:
        return UNKNOWN
    first, dangerous = answers[0], any(found.executes_code for found in answers)
    return Found(first.format, first.framework, dangerous, first.inputs, first.outputs, first.facts)


def _in_order(files: Files) -> list[Entry]:
    return sorted(files.entries, key=lambda each: (each.path.count("/"), -each.size, each.path))[:MOST_FILES]


def _of_file(view: FileView) -> Found | None:
    if not view.size:
        return None
    for read in _FILES:
        try:
            found = read(view)
        except Malformed:
            continue
        if found is not None:
            return found
    return None
