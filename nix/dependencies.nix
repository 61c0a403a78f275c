# The Python packages that pyproject.toml names, so that no list is kept twice: { runtime, extras.NAME, dev }, each a list of
# attribute names of nixpkgs' Python packages.
let
  pyproject = builtins.fromTOML (builtins.readFile ../pyproject.toml);

  # "ruamel.yaml>=0.18.6,<0.20" -> "ruamel-yaml"
  attribute =
    requirement:
    builtins.replaceStrings [ "." "_" ] [ "-" "-" ] (
      builtins.head (builtins.match "([A-Za-z0-9._-]+).*" requirement)
    );
in
{
  runtime = map attribute pyproject.project.dependencies;
  extras = builtins.mapAttrs (_: map attribute) pyproject.project.optional-dependencies;
  dev = map attribute pyproject.dependency-groups.dev;
  build = map attribute pyproject.build-system.requires;
}
