# What all three modules offer.
self:
{ lib, pkgs }:
let
  config = import ./options.nix { inherit lib; };
in
{
  inherit config;
  inherit (import ./jobs.nix { inherit lib; }) jobs;

  options = {
    enable = lib.mkEnableOption "agent-memory, the memory that your coding agents share";

    package = lib.mkOption {
      type = lib.types.package;
      default = self.packages.${pkgs.stdenv.hostPlatform.system}.default;
      defaultText = lib.literalExpression "agent-memory.packages.\${system}.default";
      description = "The package whose `memory` is installed and scheduled.";
    };

    schedule.enable = lib.mkOption {
      type = lib.types.bool;
      default = true;
      description = "Let the machine run `memory consolidate` and `memory defrag` by itself, as often as `settings.schedule` says.";
    };

    settings = lib.mkOption {
      type = lib.types.submodule { inherit (config) options; };
      default = { };
      description = "The config, as `~/.config/agent-memory/config.json` holds it; what is left at its default is not written.";
    };
  };
}
