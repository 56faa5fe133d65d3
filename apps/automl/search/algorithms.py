"""The algorithms and their settings."""

from enum import StrEnum


class Algorithm(StrEnum):
    RANDOM = "random"
    GRID = "grid"
    GP = "gp"
    TPE = "tpe"
    CMAES = "cmaes"
    HYPERBAND = "hyperband"
    SOBOL = "sobol"
    PBT = "pbt"
