"""Small files of each format, made by hand as their writers lay them out, so that no framework has to be installed."""

import io
import json
import pickle
import struct
import zipfile
import zlib


def varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def message(field: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    return varint(field << 3 | 2) + varint(len(content)) + content


def value_info(name: str, element: int, *shape: int | str) -> bytes:
    sizes = (number(1, size) if isinstance(size, int) else message(2, size.encode()) for size in shape)
    dims = message(2, *(message(1, size) for size in sizes))
    return message(1, name.encode()) + message(2, message(1, number(1, element), dims))


def onnx(weights: int = 40_000) -> bytes:
    """As PyTorch's exporter writes one: an input, a weight that an old exporter lists as an input too, an output."""
    node = message(1, message(1, b"image"), message(2, b"scores"), message(4, b"MatMul"))
    weight = message(5, number(1, weights // 4), number(2, 1), message(8, b"fc.weight"), message(9, b"\0" * weights))
    graph = (node, message(2, b"main"), weight, message(11, value_info("image", 1, "batch", 3, 224, 224)))
    tail = (message(11, value_info("fc.weight", 1, weights // 4)), message(12, value_info("scores", 1, "batch", 10)))
    return (
        number(1, 8)
        + message(2, b"pytorch")
        + message(3, b"2.9")
        + message(7, *graph, *tail)
        + message(8, message(1, b""), number(2, 20))
    )


def safetensors(**tensors: tuple[str, list[int]]) -> bytes:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    header |= {name: {"dtype": kind, "shape": shape, "data_offsets": [0, 0]} for name, (kind, shape) in tensors.items()}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"\0" * 64


def gguf() -> bytes:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    keys = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("general.file_type") + struct.pack("<II", 4, 15),
        text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b"),
        text("llama.context_length") + struct.pack("<II", 4, 4096),
    ]
    return b"GGUF" + struct.pack("<IQQ", 3, 291, len(keys)) + b"".join(keys)


def zipped(*names: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            archive.writestr(name, "x" * 100)
    return target.getvalue()


class _Estimator:
    pass


_Estimator.__module__, _Estimator.__qualname__ = "sklearn.linear_model", "LogisticRegression"
# What a pickler writes for an instance of a class of scikit-learn, which is not installed here.
PICKLED = pickle.dumps({"coef": [0.5]}, protocol=4)[:-1] + b"\x8c\x14sklearn.linear_model0."
_TREES = b"tree\nversion=v4\nnum_class=3\nnum_tree_per_iteration=3\nmax_feature_idx=63\nobjective=multiclass\n"
_MINDIR = message(1, b"0.1.0") + message(2, b"MindSpore") + message(3, b"2.4") + message(9, b"\0" * 50)

SAMPLES: dict[str, tuple[dict[str, bytes], str, str, bool]] = {
    "onnx": ({"model.onnx": onnx()}, "onnx", "", False),
    "pmml": ({"a.xml": b'\xef\xbb\xbf<?xml version="1.0"?>\n<PMML xmlns="x" version="4.4">'}, "pmml", "", False),
    "torchscript": (
        {"m.pt": zipped("m/data.pkl", "m/constants.pkl", "m/code/__torch__.py", "m/version")},
        *("torchscript", "PyTorch", False),
    ),
    "checkpoint": ({"m.pt": zipped("archive/data.pkl", "archive/version")}, "torch_pickle", "PyTorch", True),
    "saved model": (
        {"saved_model.pb": b"\x08\x01\x12\x05abcde", "variables/variables.index": b"x" * 9},
        *("saved_model", "TensorFlow", False),
    ),
    "safetensors": (
        {"model.safetensors": safetensors(a=("F32", [3, 4]), b=("F16", [2]))},
        *("safetensors", "PyTorch", False),
    ),
    "gguf": ({"model.gguf": gguf()}, "gguf", "llama.cpp", False),
    "skops": ({"m.skops": zipped("schema.json", "1.npy")}, "skops", "scikit-learn", False),
    "pickle": ({"model.bin": PICKLED}, "pickle", "scikit-learn", True),
    "old pickle": ({"m": b"ccopy_reg\n_reconstructor\np0\n(csklearn.svm\nSVC\np1\n."}, "pickle", "scikit-learn", True),
    "joblib": ({"m.joblib": zlib.compress(PICKLED)}, "pickle", "scikit-learn", True),
    "xgboost": (
        {"m.json": b'{"learner":{"attributes":{},"gradient_booster":{"model":{}}},"version":[3,0,0]}'},
        *("xgboost", "XGBoost", False),
    ),
    "lightgbm": ({"model.txt": _TREES}, "lightgbm", "LightGBM", False),
    "paddle": ({"i.pdmodel": b"\x0a\x05abcde", "i.pdiparams": b"\0" * 40}, "paddle", "PaddlePaddle", False),
    "paddle 3": (
        {"inference.json": b'{"base_code":{"magic":"pir","version":1}}', "inference.pdiparams": b"\0"},
        *("paddle", "PaddlePaddle", False),
    ),
    "mindspore": ({"m.mindir": _MINDIR}, "mindspore", "MindSpore", False),
    "keras": ({"m.keras": zipped("metadata.json", "config.json", "model.weights.h5")}, "keras", "Keras", False),
    "hugging face": (
        {
            "config.json": b'{"model_type":"bert","architectures":["BertModel"],"torch_dtype":"float16"}',
            "model.safetensors": safetensors(a=("F16", [8])),
        },
        *("hugging_face", "Transformers", False),
    ),
    "hugging face, pickled": (
        {"config.json": b'{"model_type":"bert"}', "pytorch_model.bin": zipped("archive/data.pkl")},
        *("hugging_face", "Transformers", True),
    ),
    "weights and a pickle": (
        {"a/model.safetensors": safetensors(a=("F32", [2])), "a/b/scaler.pkl": PICKLED},
        *("safetensors", "PyTorch", True),
    ),
    "something else": ({"README.md": b"# Digits\n", "data.csv": b"1,2\n" * 50}, "unknown", "", False),
}
