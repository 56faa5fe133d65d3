"""What files are is told from what they contain; any bytes get an answer, in bounded work, and nothing is loaded."""

import json
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.modelhub.choices import Format
from apps.modelhub.recognising.found import Found, Tensor
from apps.modelhub.recognising.readers import recognise
from apps.modelhub.recognising.reading import MOST_BYTES, Entry
from tests.modelhub.formats import SAMPLES, onnx
from tests.searching import examples


@dataclass
class InMemory:
    """Counts what is read."""

    files: dict[str, bytes]
    taken: int = 0
    entries: list[Entry] = field(init=False)

    def __post_init__(self) -> None:
        self.entries = [Entry(path, len(content)) for path, content in self.files.items()]

    def read(self, path: str, offset: int, count: int) -> bytes:
        self.taken += count
        return self.files[path][offset : offset + count]


def told(files: dict[str, bytes]) -> Found:
    return recognise(InMemory(files))


@pytest.mark.parametrize("name", SAMPLES)
def test_each_format_is_told_by_what_is_in_it_whatever_its_name(name: str) -> None:
    files, kind, framework, dangerous = SAMPLES[name]
    found = told(files)
    assert (found.format, found.framework, found.executes_code) == (kind, framework, dangerous)
    if len(files) == 1:
        (content,) = files.values()
        assert told({"renamed.dat": content}).format == kind


def test_onnx_says_what_goes_in_and_out_and_its_weights_are_not_read() -> None:
    files = InMemory({"model.onnx": onnx(weights=30 << 20)})
    found = recognise(files)
    assert (found.inputs, found.outputs) == (
        [Tensor("image", "FP32", (-1, 3, 224, 224))],
        [Tensor("scores", "FP32", (-1, 10))],
    )
    assert found.facts == {"opset": 20, "producer": "pytorch"}
    assert files.taken < 1 << 20


def test_headers_of_weights_say_how_many_parameters_and_of_what() -> None:
    assert told(SAMPLES["safetensors"][0]).facts == {"parameters": 14, "precision": "F32"}
    facts = {"version": 3, "tensors": 291, "architecture": "llama", "context": 4096, "precision": "Q4_K_M"}
    assert told(SAMPLES["gguf"][0]).facts == facts


_WHOLE = [content[:4000] for files, *_told in SAMPLES.values() for content in files.values()]
_NAMES = st.sampled_from(["model.onnx", "config.json", "saved_model.pb", "m.pdiparams", "m.pdmodel", "a/b/model.pkl"])


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A file of some format, cut short and with some bytes changed: what a walk is led astray by."""
    content = bytearray(draw(st.sampled_from(_WHOLE)))
    for place in draw(st.lists(st.integers(0, max(0, len(content) - 1)), max_size=6)):
        content[place : place + 1] = draw(st.binary(min_size=1, max_size=9))
    return bytes(content[: draw(st.integers(0, len(content)))])


@settings(max_examples=examples(1000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(_NAMES, st.one_of(st.binary(max_size=300), damaged()), max_size=4))
def test_any_bytes_get_an_answer_that_a_database_can_hold(files: dict[str, bytes]) -> None:
    listed = InMemory(files)
    found = recognise(listed)
    assert found.format in Format.values
    assert listed.taken <= 2 * MOST_BYTES
    stored = json.dumps([found.signature(), dict(found.facts), found.framework], allow_nan=False)
    assert "\\u0000" not in stored
    stored.encode()
    assert "\\ud" not in stored.lower().replace("\\\\", "")
