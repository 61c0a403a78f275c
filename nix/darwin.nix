# For the primary user of a Mac.
self:
{
  config,
  lib,
  pkgs,
  ...
}:
let
  common = import ./common.nix self { inherit config lib pkgs; };
  inherit (common) cfg jobs document;
  user = config.system.primaryUser;
  home = config.users.users.${user}.home;
in
{
  options.services.agent-memory = common.options;

  config = lib.mkIf cfg.enable {
    environment.systemPackages = [ cfg.package ];

    launchd.user.agents = lib.mkIf cfg.schedule.enable (
      lib.mapAttrs' (
        _: job:
        lib.nameValuePair job.unit {
          serviceConfig = job.launchd // {
            EnvironmentVariables.PATH = "${home}/.nix-profile/bin:/etc/profiles/per-user/${user}/bin:/run/current-system/sw/bin:/nix/var/nix/profiles/default/bin:/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin";
            StandardOutPath = "${home}/Library/Logs/${job.unit}.log";
            StandardErrorPath = "${home}/Library/Logs/${job.unit}.log";
          };
        }
      ) jobs
    );

    # nix-darwin has no files of a person's home.
    system.activationScripts.postActivation.text = lib.mkIf common.isConfigured ''
      sudo --user=${lib.escapeShellArg user} -- mkdir -p ${lib.escapeShellArg "${home}/.config/agent-memory"}
      sudo --user=${lib.escapeShellArg user} -- ln -sfn ${document} ${lib.escapeShellArg "${home}/.config/agent-memory/config.json"}
    '';
  };
}
