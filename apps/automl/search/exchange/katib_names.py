"""What Katib calls what we have."""

from collections.abc import Mapping

from apps.automl.search.algorithms import Algorithm

API_VERSION = "kubeflow.org/v1beta1"
KIND = "Experiment"
SEED = "random_state"
ALGORITHMS: Mapping[str, Algorithm] = {
    "random": Algorithm.RANDOM,
    "grid": Algorithm.GRID,
    "bayesianoptimization": Algorithm.GP,
    "tpe": Algorithm.TPE,
    "cmaes": Algorithm.CMAES,
    "hyperband": Algorithm.HYPERBAND,
    "sobol": Algorithm.SOBOL,
    "pbt": Algorithm.PBT,
}
# Another of Katib's names for the same algorithm: Optuna's TPE draws parameters together by itself.
ALSO = {"multivariate-tpe": Algorithm.TPE}
# Our name of each setting by Katib's.
SETTINGS: Mapping[Algorithm, Mapping[str, str]] = {
    Algorithm.RANDOM: {},
    Algorithm.GRID: {},
    Algorithm.SOBOL: {},
    Algorithm.CMAES: {},
    Algorithm.GP: {"n_initial_points": "n_startup_trials"},
    Algorithm.TPE: {"n_startup_trials": "n_startup_trials", "n_ei_candidates": "n_ei_candidates"},
    Algorithm.HYPERBAND: {"r_l": "max_resource", "eta": "reduction_factor"},
    Algorithm.PBT: {
        "n_population": "population",
        "truncation_threshold": "quantile",
        "resample_probability": "resample_probability",
    },
}
EARLY_STOPPING = "medianstop"
START_STEP, MIN_TRIALS = "start_step", "min_trials_required"
UNIFORM, LOG_UNIFORM = "uniform", "logUniform"
