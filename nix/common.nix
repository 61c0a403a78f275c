# What all three modules offer, and what they make of what was chosen.
self:
{
  config,
  lib,
  pkgs,
}:
let
  cfg = config.services.agent-memory;
  settings = import ./options.nix { inherit lib; };
in
{
  inherit cfg;
  jobs = (import ./jobs.nix { inherit lib; }).jobs cfg.settings "${cfg.package}/bin/memory";
  document = pkgs.writeText "agent-memory-config.json" (settings.document cfg.settings);
  isConfigured = !settings.isDefault cfg.settings;

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
      type = lib.types.submodule { inherit (settings) options; };
      default = { };
      description = "The config, as `~/.config/agent-memory/config.json` holds it; what is left at its default is not written.";
    };
  };
}
