# For the people of `users`, by their own systemd.
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
  # Any of them may be the one whose systemd it is.
  condition = map (user: "|${user}") cfg.users;
  byName = make: lib.mapAttrs' (_: job: make job) jobs;
in
{
  options.services.agent-memory = common.options // {
    users = lib.mkOption {
      type = lib.types.listOf lib.types.str;
      example = [ "ada" ];
      description = "Whose memory is kept tidy, and who gets `settings` as their config. Each has a store of their own.";
    };
  };

  config = lib.mkIf cfg.enable {
    environment.systemPackages = [ cfg.package ];

    systemd.user.tmpfiles.users = lib.mkIf common.isConfigured (
      lib.genAttrs cfg.users (_: {
        rules = [ "L+ %h/.config/agent-memory/config.json - - - - ${document}" ];
      })
    );

    systemd.user.services = lib.mkIf cfg.schedule.enable (
      byName (
        job:
        lib.nameValuePair job.unit {
          inherit (job) description;
          unitConfig.ConditionUser = condition;
          # The default PATH has no place for specifiers.
          environment.PATH = lib.mkForce null;
          serviceConfig = job.systemd.service // {
            Environment = "PATH=%h/.nix-profile/bin:/etc/profiles/per-user/%u/bin:/run/wrappers/bin:/run/current-system/sw/bin";
          };
        }
      )
    );

    systemd.user.timers = lib.mkIf cfg.schedule.enable (
      byName (
        job:
        lib.nameValuePair job.unit {
          inherit (job) description;
          unitConfig.ConditionUser = condition;
          timerConfig = job.systemd.timer;
          wantedBy = [ job.systemd.install.WantedBy ];
        }
      )
    );
  };
}
