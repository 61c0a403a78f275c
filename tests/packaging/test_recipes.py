"""The recipes for other package managers say what pyproject.toml says."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from agent_memory import __version__

PROJECT = Path(__file__).parents[2]
FORMULA = (PROJECT / "packaging/homebrew/agent-memory.rb").read_text("utf-8")
PKGBUILD = (PROJECT / "packaging/aur/PKGBUILD").read_text("utf-8")
FACTS = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]


def names(requirements: list[str]) -> set[str]:
    """Without the prefix that a distribution gives Python packages, nor a name's repetition of it."""
    found = [re.split(r"[^\w.-]", each)[0] for each in requirements]
    return {re.sub(r"[._]", "-", each).removeprefix("python-") for each in found} - {"git", "python"}


@pytest.mark.parametrize("recipe", [FORMULA, PKGBUILD], ids=["homebrew", "aur"])
def test_a_recipe_is_of_this_version_and_license_and_waits_for_address_and_hash_alone(recipe: str) -> None:
    text = recipe.replace("$pkgver", re.findall(r"pkgver=(.*)", recipe)[0]) if "$pkgver" in recipe else recipe
    assert set(re.findall(r"\d+\.\d+\.\d+", text)) == {__version__}
    assert f"/releases/download/v{__version__}/agent_memory-{__version__}.tar.gz" in text
    assert set(re.findall(r"@\w+@", text)) == {"@HOMEPAGE@", "@SHA256@"}
    assert FACTS["license"] in text
    assert FACTS["description"].split(", filled")[0].removeprefix("The ") in text.replace("Memory your", "memory your")


def test_the_recipe_of_arch_has_the_packages_of_pyproject() -> None:
    needed = re.findall(r"^depends=\((.*?)\)", PKGBUILD, re.DOTALL | re.MULTILINE)[0].split()
    assert names(needed) == names(FACTS["dependencies"])
    offered = re.findall(r"^  '([\w-]+): ", PKGBUILD, re.MULTILINE)
    extras = [each for some in FACTS["optional-dependencies"].values() for each in some]
    assert names(offered) == {each.replace("jinja2", "jinja") for each in names(extras)}


def test_the_formula_takes_a_python_for_which_the_package_is_meant() -> None:
    (version,) = re.findall(r'depends_on "python@(.+)"', FORMULA)
    assert f"Programming Language :: Python :: {version}" in FACTS["classifiers"]


@pytest.mark.parametrize(("shell", "path"), [("bash", "aur/PKGBUILD"), ("ruby", "homebrew/agent-memory.rb")])
def test_a_recipe_can_be_parsed(shell: str, path: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    flag = "-n" if shell == "bash" else "-c"
    subprocess.run([shell, flag, PROJECT / "packaging" / path], check=True, stdout=subprocess.DEVNULL)
