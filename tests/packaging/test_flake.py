"""The flake says what pyproject.toml, the config and the schedule say. Needs nix; nothing is built or fetched."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent_memory import __version__
from agent_memory.setup.schedule import Job, calendars, interval_of

PROJECT = Path(__file__).parents[2]
STUB = PROJECT / "tests" / "fixtures" / "nixpkgs"
HOURS = (1 / 60, 0.05, 0.25, 0.5, 1, 1.5, 2, 5, 12, 24, 36, 48, 168, 8_760)
SCHEMA = json.loads((PROJECT / "docs" / "config.schema.json").read_text("utf-8"))

needs_nix = pytest.mark.skipif(shutil.which("nix") is None, reason="there is no nix")


@pytest.fixture
def nix(tmp_path: Path) -> Any:
    """Calls of nix with a store of their own."""

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        features = ["--extra-experimental-features", "nix-command flakes"]
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        store = ["--store", str(tmp_path / "nix")]
        return subprocess.run(
            ["nix", *words, *features, *store], capture_output=True, text=True, env=environ, cwd=tmp_path, check=False
        )

    return call


def evaluated(nix: Any, expression: str) -> Any:
    done = nix("eval", "--impure", "--json", "--expr", expression)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_nix
def test_the_dependencies_are_those_of_pyproject(nix: Any) -> None:
    pyproject = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))

    def names(requirements: list[str]) -> list[str]:
        found = [re.match(r"[A-Za-z0-9._-]+", each) for each in requirements]
        return [re.sub(r"[._]", "-", each[0]) for each in found if each is not None]

    assert evaluated(nix, f"import {PROJECT}/nix/dependencies.nix") == {
        "runtime": names(pyproject["project"]["dependencies"]),
        "extras": {name: names(each) for name, each in pyproject["project"]["optional-dependencies"].items()},
        "dev": names(pyproject["dependency-groups"]["dev"]),
        "build": ["hatchling"],
    }


@needs_nix
def test_the_flake_evaluates_whole(nix: Any, tmp_path: Path) -> None:
    """Undefined names, missing arguments, outputs of the wrong kind."""
    copy = tmp_path / "project"
    files = "flake.nix flake.lock nix plists pyproject.toml docs/config.schema.json src/agent_memory/__init__.py"
    for name in files.split():
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        whole = PROJECT / name
        if whole.is_dir():
            shutil.copytree(whole, target)
        else:
            shutil.copy(whole, target)
    shutil.copytree(STUB, copy / "tests/fixtures/nixpkgs")
    checked = nix(
        "flake", "check", f"path:{copy}", "--no-build", "--offline", "--no-write-lock-file",
        "--override-input", "nixpkgs", f"path:{STUB}",
    )  # fmt: skip
    assert checked.returncode == 0, checked.stderr
    locked = nix("flake", "metadata", f"path:{copy}", "--offline", "--no-update-lock-file")
    assert locked.returncode == 0, f"flake.lock is not that of flake.nix: {locked.stderr}"
    system = evaluated(nix, "builtins.currentSystem")
    flake = (
        f"let nixpkgs = (import {copy}/tests/fixtures/nixpkgs/flake.nix).outputs {{}}; "
        f"flake = (import {copy}/flake.nix).outputs {{ self = flake; inherit nixpkgs; }}; in "
    )
    outputs = evaluated(nix, flake + "builtins.attrNames flake")
    assert outputs == [
        "apps", "checks", "darwinModules", "devShells", "homeManagerModules", "nixosModules", "overlays", "packages",
    ]  # fmt: skip
    package = flake + f"flake.packages.{system}.default."
    assert evaluated(nix, package + "name") == f"agent-memory-{__version__}"
    assert evaluated(nix, package + "arguments.doCheck") is False
    needed = f"map (each: each.name) ({package}arguments.dependencies)"
    assert {"snowballstemmer", "mcp_2"} <= set(evaluated(nix, needed))
    old = f"let pkgs = import {STUB}/packages.nix {json.dumps(system)}; in map (each: each.name) (pkgs.callPackage "
    old += f'{PROJECT}/nix/package.nix {{ python313Packages = removeAttrs pkgs.python313Packages [ "mcp_2" ]; }})'
    assert not {"mcp", "mcp_2"} & set(evaluated(nix, f"{old}.arguments.dependencies"))
    assert evaluated(nix, flake + f"flake.checks.{system}.package.arguments.doCheck") is True
    assert evaluated(nix, flake + f"flake.apps.{system}.default.program").endswith("/bin/memory")
    assert evaluated(nix, flake + f"(flake.overlays.default nixpkgs.legacyPackages.{system} {{}}).agent-memory.name")
    assert evaluated(nix, flake + f"flake.devShells.{system}.default.name") == "shell"


@needs_nix
def test_the_cadence_is_that_of_install_cron(nix: Any) -> None:
    settings = " ".join(
        f"(jobs {{ schedule = {{ consolidateIntervalHours = {hours!r}; defragIntervalHours = 24; }}; }} "
        '"/bin/memory").consolidate'
        for hours in HOURS
    )
    expression = (
        f"let inherit (import {PROJECT}/nix/jobs.nix {{ lib = import {STUB}/lib.nix; }}) jobs; in "
        f"map (job: {{ calendar = job.systemd.timer.OnCalendar; exec = job.systemd.service.ExecStart; "
        f"seconds = job.launchd.StartInterval; }}) [ {settings} ]"
    )
    for hours, job in zip(HOURS, evaluated(nix, expression), strict=True):
        ours = Job("x", interval_of(hours, "x"))
        every = "" if ours.is_exact else f" --every {ours.interval_seconds}"
        assert job == {
            "calendar": calendars(ours.tick_seconds)[0],
            "exec": f"/bin/memory schedule run consolidate{every}",
            "seconds": ours.interval_seconds,
        }


@needs_nix
def test_every_key_of_the_config_is_an_option_with_type_and_description(nix: Any) -> None:
    expression = (
        f"let o = (import {PROJECT}/nix/options.nix {{ lib = import {STUB}/lib.nix; }}).options; "
        "shown = option: { inherit (option) description; type = option.type.description; } // "
        "(if option.type ? options then { keys = builtins.mapAttrs (_: shown) option.type.options; } else {}); "
        "in builtins.mapAttrs (_: shown) o"
    )
    options = evaluated(nix, expression)
    sections = {name: node for name, node in SCHEMA["properties"].items() if name != "$schema"}
    assert list(options) == sorted(sections)
    for name, node in sections.items():
        assert options[name]["description"] == node["description"]
        keys = options[name]["keys"]
        assert sorted(keys) == sorted(node["properties"])
        for key, facts in node["properties"].items():
            assert (keys[key]["description"], bool(keys[key]["type"])) == (facts["description"], True)
    assert options["llm"]["keys"]["command"]["type"] == "null or string"
    assert options["llm"]["keys"]["maxPromptChars"]["type"] == "signed integer, at least 10000, at most 8000000"


def test_the_flake_names_every_file_that_the_package_is_made_of() -> None:
    package = (PROJECT / "nix" / "package.nix").read_text("utf-8")
    pyproject = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
    shipped = set(pyproject["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]) - {
        "flake.nix",
        "flake.lock",
        "nix",
    }
    named = set(re.findall(r"^ +\.\./([\w.]+)$", package, flags=re.MULTILINE))
    assert shipped | {"pyproject.toml"} == named


@needs_nix
@pytest.mark.parametrize("module", ["darwin", "home-manager", "nixos"])
def test_what_a_module_makes_of_what_was_chosen(nix: Any, module: str) -> None:
    """Every part of it, with the settings in a file and both jobs as often as they say; nothing once it is off."""
    chosen = """{
      services.agent-memory = {
        inherit enable;
        package = "/package";
        schedule.enable = true;
        users = [ "ada" ];
        settings = { schedule = { consolidateIntervalHours = 3; defragIntervalHours = 24; }; llm.preset = "claude"; };
      };
      system.primaryUser = "ada";
      users.users.ada.home = "/Users/ada";
      home = { profileDirectory = "/profile"; homeDirectory = "/Users/ada"; };
    }"""

    def made(enable: str) -> str:
        return json.dumps(
            evaluated(
                nix,
                f"""let
                  lib = import {STUB}/lib.nix;
                  enable = {enable};
                  pkgs = {{
                    writeText = name: text: "/store/${{text}}";
                    stdenv.hostPlatform = {{ system = "x86_64-linux"; isDarwin = false; }};
                  }};
                in (import {PROJECT}/nix/{module}.nix {{ }} {{ config = {chosen}; inherit lib pkgs; }}).config""",
            )
        )

    on = made("true").replace("\\", "")
    assert '{"llm":{"preset":"claude"},"schedule":{"consolidateIntervalHours":3}}' in on
    assert "/package/bin/memory" in on
    assert "agent-memory-consolidate" in on
    assert "agent-memory-defrag" in on
    assert "agent-memory" not in made("false")


# -- the recipes for other package managers say what pyproject.toml says -----------------------------------------------


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


def test_formula_and_flake_take_a_python_for_which_the_package_is_meant() -> None:
    ((major, minor),) = set(
        re.findall(r"python(\d)(\d+)Packages", (PROJECT / "nix" / "package.nix").read_text("utf-8"))
    )
    for version in (*re.findall(r'depends_on "python@(.+)"', FORMULA), f"{major}.{minor}"):
        assert f"Programming Language :: Python :: {version}" in FACTS["classifiers"]


@pytest.mark.parametrize(("shell", "path"), [("bash", "aur/PKGBUILD"), ("ruby", "homebrew/agent-memory.rb")])
def test_a_recipe_can_be_parsed(shell: str, path: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    flag = "-n" if shell == "bash" else "-c"
    subprocess.run([shell, flag, PROJECT / "packaging" / path], check=True, stdout=subprocess.DEVNULL)
