"""Closed sets of values of the model registry."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class VersionState(models.TextChoices):
    """Whether the contents of a version are there. Only one that is ready can be mounted."""

    COPYING = "copying", pgettext_lazy("model version", "Being copied")
    READY = "ready", pgettext_lazy("model version", "Ready")
    FAILED = "failed", pgettext_lazy("model version", "Not copied")


class Stage(models.TextChoices):
    """Names that a version has only once it was asked for; a model's production version changes by review."""

    STAGING = "staging", pgettext_lazy("model stage", "Staging")
    PRODUCTION = "production", pgettext_lazy("model stage", "Production")


class PromotionState(models.TextChoices):
    """What became of the wish that a version takes a stage."""

    OPEN = "open", pgettext_lazy("promotion", "Waits for review")
    APPROVED = "approved", pgettext_lazy("promotion", "Approved")
    REJECTED = "rejected", pgettext_lazy("promotion", "Rejected")
    WITHDRAWN = "withdrawn", pgettext_lazy("promotion", "Withdrawn")


class Source(models.TextChoices):
    """Where the files of a version came from."""

    RUN = "run", pgettext_lazy("model source", "Output of a run")
    VOLUME = "volume", pgettext_lazy("model source", "Volume")
    UPLOAD = "upload", pgettext_lazy("model source", "Upload")
    OTHER = "other", pgettext_lazy("model source", "Made by the platform")


class Format(models.TextChoices):
    """How the files of a version hold a model, as `recognising` finds it from what they contain."""

    ONNX = "onnx", "ONNX"
    PMML = "pmml", "PMML"
    TORCHSCRIPT = "torchscript", "TorchScript"
    TORCH_PICKLE = "torch_pickle", _("PyTorch checkpoint (pickle)")
    SAVED_MODEL = "saved_model", "TensorFlow SavedModel"
    KERAS = "keras", "Keras"
    SAFETENSORS = "safetensors", "safetensors"
    GGUF = "gguf", "GGUF"
    SKOPS = "skops", "scikit-learn (skops)"
    PICKLE = "pickle", _("Pickle")
    XGBOOST = "xgboost", "XGBoost"
    LIGHTGBM = "lightgbm", "LightGBM"
    PADDLE = "paddle", "PaddlePaddle"
    MINDSPORE = "mindspore", "MindSpore"
    HUGGING_FACE = "hugging_face", _("Hugging Face folder")
    UNKNOWN = "unknown", pgettext_lazy("format", "Not recognised")
