"""Runs of pipelines as the loop claims them."""

from apps.common.turns import Turns
from apps.pipelines.choices import OPEN, RunStatus
from apps.pipelines.models import PipelineRun

RUNS = Turns(PipelineRun, OPEN, RunStatus.RUNNING, ("owner", "pipeline", "version", "dataset_version"))
