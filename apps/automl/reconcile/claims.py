"""Experiments as the loop claims them."""

from apps.automl.choices import OPEN, ExperimentStatus
from apps.automl.models import Experiment
from apps.common.turns import Turns

EXPERIMENTS = Turns(Experiment, OPEN, ExperimentStatus.RUNNING, ("owner", "template__workload"))
