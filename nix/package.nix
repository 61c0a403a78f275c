# The `memory` command. `extras` are those of pyproject.toml; one whose packages nixpkgs does not have is refused by name.
{
  lib,
  python3Packages,
  git,
  extras ? [ "mcp" ],
}:
let
  dependencies = import ./dependencies.nix;
  packages =
    names:
    map (
      name:
      python3Packages.${name}
        or (throw "agent-memory: nixpkgs has no python3Packages.${name}; leave out the extra that needs it")
    ) names;
  source = builtins.readFile ../src/agent_memory/__init__.py;
in
python3Packages.buildPythonApplication {
  pname = "agent-memory";
  version = builtins.head (builtins.match ".*__version__ = \"([^\"]+)\".*" source);
  pyproject = true;

  src = lib.fileset.toSource {
    root = ../.;
    fileset = lib.fileset.unions [
      ../CHANGELOG.md
      ../CONTRIBUTING.md
      ../LICENSE
      ../Makefile
      ../README.md
      ../bench
      ../bin
      ../docs
      ../fuzz
      ../mkdocs.yml
      ../mutants
      ../packaging
      ../plists
      ../plugins
      ../prompts
      ../pyproject.toml
      ../skills
      ../src
      ../tests
      ../typings
    ];
  };

  build-system = packages dependencies.build;
  dependencies = packages (dependencies.runtime ++ lib.concatMap (extra: dependencies.extras.${extra}) extras);

  # A schedule or a hook may run where no git is on PATH; one that is there comes first.
  makeWrapperArgs = [
    "--suffix"
    "PATH"
    ":"
    (lib.makeBinPath [ git ])
  ];

  pythonImportsCheck = [ "agent_memory" ];

  # The whole suite takes minutes: `nix flake check` runs it, an installation does not.
  doCheck = false;
  nativeCheckInputs = [
    git
    python3Packages.pytestCheckHook
    python3Packages.hypothesis
    python3Packages.pytest-xdist
    python3Packages.markdown-it-py
  ];

  meta = {
    description = "The memory your coding agents share: plain markdown in a git repository";
    license = lib.licenses.mit;
    mainProgram = "memory";
    platforms = lib.platforms.unix;
  };
}
