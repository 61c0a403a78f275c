{
  description = "The memory your coding agents share: plain markdown in a git repository, filled and kept tidy by itself";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      systems = [
        "aarch64-darwin"
        "aarch64-linux"
        "x86_64-darwin"
        "x86_64-linux"
      ];
      # As far as nixpkgs still has them.
      forEach = make: lib.mapAttrs (_: make) (builtins.intersectAttrs (lib.genAttrs systems (_: null)) nixpkgs.legacyPackages);
      packageFor = pkgs: pkgs.callPackage ./nix/package.nix { };
    in
    {
      packages = forEach (pkgs: {
        default = packageFor pkgs;
      });

      overlays.default = final: _: { agent-memory = packageFor final; };

      apps = forEach (pkgs: {
        default = {
          type = "app";
          program = "${packageFor pkgs}/bin/memory";
          meta.description = "The memory your coding agents share";
        };
      });

      devShells = forEach (pkgs: {
        default = pkgs.callPackage ./nix/shell.nix { };
      });

      checks = forEach (pkgs: {
        package = (packageFor pkgs).overridePythonAttrs { doCheck = true; };
      });

      homeManagerModules.default = import ./nix/home-manager.nix self;
      nixosModules.default = import ./nix/nixos.nix self;
      darwinModules.default = import ./nix/darwin.nix self;
    };
}
