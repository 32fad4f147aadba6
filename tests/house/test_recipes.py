"""The policies in the documentation are real: each loads, with its examples, as it stands there."""

import re
from pathlib import Path

import pytest

from orchestrator.config.assets import asset
from orchestrator.policy.load import load_policy

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"```yaml\n(version: 1\nname: .*?)```", re.DOTALL)
RECIPES = {
    f"{page.name}-{number}": text
    for page in sorted(DOCS.glob("*.md"))
    for number, text in enumerate(_BLOCK.findall(page.read_text("utf-8")))
}


def test_there_are_recipes():
    """A change of form must not make them all pass unseen."""
    assert len([name for name in RECIPES if name.startswith("recipes.md")]) >= 7


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_loads(name, tmp_path):
    """Keys, rules and examples hold."""
    file = tmp_path / "recipe.yaml"
    file.write_text(RECIPES[name], "utf-8")

    assert load_policy([str(file)], search=asset("policies"), user_file=None).name == "recipe"
