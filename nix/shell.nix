# What `make demo`, `make check` and `make test` need; they set up .venv themselves.
{
  mkShell,
  git,
  gnumake,
  python313,
  ruff,
  uv,
}:
mkShell {
  packages = [
    git
    gnumake
    python313
    ruff
    uv
  ];
}
