# The `memory` command, for a Python for which pyproject.toml says that it is meant. `extras` are those of pyproject.toml; one
# whose packages nixpkgs does not have is refused by name. Unless told otherwise it has `mcp`, if nixpkgs has one that is new enough.
{
  lib,
  python313Packages,
  git,
  extras ? null,
}:
let
  dependencies = import ./dependencies.nix;
  # nixpkgs keeps an `mcp` of the first generation, which others need, and has ours beside it.
  given = python313Packages // {
    mcp = python313Packages.mcp_2 or python313Packages.mcp;
  };
  packages =
    names:
    map (
      name:
      given.${name}
        or (throw "agent-memory: nixpkgs has no python313Packages.${name}; leave out the extra that needs it")
    ) names;
  chosen = if extras == null then lib.optional (lib.versionAtLeast given.mcp.version "2.2") "mcp" else extras;
  source = builtins.readFile ../src/agent_memory/__init__.py;
in
python313Packages.buildPythonApplication {
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
  dependencies = packages (dependencies.runtime ++ lib.concatMap (extra: dependencies.extras.${extra}) chosen);

  # Tried with snowballstemmer 3.0 and shtab 1.8, which makes no script for fish.
  pythonRelaxDeps = [
    "shtab"
    "snowballstemmer"
  ];

  # A schedule or a hook may run where no git is on PATH; one that is there comes first.
  makeWrapperArgs = [
    "--suffix"
    "PATH"
    ":"
    (lib.makeBinPath [ git ])
  ];

  pythonImportsCheck = [ "agent_memory" ];

  # An installation runs no tests, `nix flake check` those of the rooms that need no other program: a build has no /usr/bin.
  doCheck = false;
  nativeCheckInputs = [
    git
  ]
  ++ packages (
    [
      "pytestCheckHook"
      "hypothesis"
      "pytest-xdist"
      "markdown-it-py"
    ]
    ++ dependencies.extras.semantic
  );
  enabledTestPaths = map (room: "tests/${room}") [
    "extraction"
    "note"
    "prompt"
    "recall"
    "redaction"
    "rules"
    "session"
    "text"
  ];

  meta = {
    description = "The memory your coding agents share: plain markdown in a git repository";
    license = lib.licenses.mit;
    mainProgram = "memory";
    platforms = lib.platforms.unix;
  };
}
