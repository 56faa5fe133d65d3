"""The launchers that there are, in the order in which they are offered."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class LauncherName(models.TextChoices):
    """Values are kept with runs."""

    NONE = "none", _("None: all start the same command")
    TORCHRUN = "torchrun", _("torchrun")
    TORCHRUN_ELASTIC = "torchrun-elastic", _("torchrun, restarts failed workers")
    ACCELERATE = "accelerate", _("Accelerate")
    OPENMPI = "openmpi", _("Open MPI")
    TENSORFLOW = "tensorflow", _("TensorFlow (TF_CONFIG)")
    PADDLE = "paddle", _("PaddlePaddle")
    MINDSPORE = "mindspore", _("MindSpore")
    RAY = "ray", _("Ray")
    SPARK = "spark", _("Spark")
