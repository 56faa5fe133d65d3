"""All recipes, in the order of pickers."""

from apps.registry.recipes.learning import LEARNING
from apps.registry.recipes.recipe import Recipe
from apps.registry.recipes.tools import TOOLS
from apps.registry.recipes.vision import VISION

RECIPES = tuple(sorted((*LEARNING, *TOOLS, *VISION), key=lambda recipe: recipe.sort))
BY_KEY = {recipe.key: recipe for recipe in RECIPES}
RUNTIMES = tuple(recipe for recipe in RECIPES if recipe.is_runtime)


def find(key: str) -> Recipe | None:
    return BY_KEY.get(key)


def to_build(text: str = "") -> tuple[Recipe, ...]:
    """Recipes that are no runtimes, whose name, words or packages have this text."""
    wanted = text.casefold()
    return tuple(recipe for recipe in RECIPES if not recipe.is_runtime and wanted in _searched(recipe))


def _searched(recipe: Recipe) -> str:
    packages = (*recipe.requirements, *recipe.apt)
    return " ".join((recipe.name, recipe.description_en, recipe.description_zh, *packages)).casefold()
