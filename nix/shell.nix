# What `make demo`, `make check` and `make test` need; they set up .venv themselves.
{
  mkShell,
  git,
  gnumake,
  python3,
  ruff,
  uv,
}:
mkShell {
  packages = [
    git
    gnumake
    python3
    ruff
    uv
  ];
}
