"""What to try next, by a sampler."""

from typing import Any

from optuna.samplers import BaseSampler

from apps.automl.search.engine.generators import kept_state, restore, seed_of
from apps.automl.search.engine.samplers import sampler_of
from apps.automl.search.engine.study import study_attrs, study_of, suggest
from apps.automl.search.inquiry import Answer, Inquiry, Suggestion

# CMA-ES keeps its optimizer in its trials. What else a sampler notes there it can read off the trials themselves.
KEPT = ("cma:",)


def ask(inquiry: Inquiry) -> Answer:
    """The next suggestions of the sampler that this algorithm names."""
    return ask_with(inquiry, sampler_of(inquiry, seed_for(inquiry)))


def ask_with(inquiry: Inquiry, sampler: BaseSampler) -> Answer:
    """Each suggestion is a running trial to the next one, so that samplers spread what is asked at once."""
    restore(sampler, inquiry.study_attrs.get("generators", {}))
    study = study_of(inquiry, sampler)
    suggestions = []
    for _ in range(inquiry.count):
        trial = study.ask()
        values = suggest(trial, inquiry.space)
        noted = study._storage.get_trial(trial._trial_id).system_attrs
        attrs: dict[str, Any] = {key: value for key, value in noted.items() if key.startswith(KEPT)}
        suggestions.append(Suggestion(values=values, attrs=attrs))
    kept = {"generators": kept_state(sampler), "study": dict(study_attrs(study))}
    return Answer(suggestions=tuple(suggestions), exhausted=False, study_attrs=kept)


def seed_for(inquiry: Inquiry) -> int:
    return seed_of(inquiry.seed, len(inquiry.past), "generators" in inquiry.study_attrs)
