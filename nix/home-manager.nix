# For one person, on Linux and macOS.
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
  path = lib.concatStringsSep ":" [
    "${config.home.profileDirectory}/bin"
    "/run/wrappers/bin"
    "/run/current-system/sw/bin"
    "/nix/var/nix/profiles/default/bin"
    "/opt/homebrew/bin"
    "/usr/local/bin"
    "/usr/bin"
    "/bin"
  ];
  isDarwin = pkgs.stdenv.hostPlatform.isDarwin;
  byName = make: lib.mapAttrs' (_: job: make job) jobs;
in
{
  options.services.agent-memory = common.options;

  config = lib.mkIf cfg.enable (
    lib.mkMerge [
      {
        home.packages = [ cfg.package ];
        home.file = lib.mkIf common.isConfigured {
          ".config/agent-memory/config.json".source = document;
        };
      }
      (lib.mkIf (cfg.schedule.enable && !isDarwin) {
        systemd.user.services = byName (
          job:
          lib.nameValuePair job.unit {
            Unit.Description = job.description;
            Service = job.systemd.service // {
              Environment = [ "PATH=${path}" ];
            };
          }
        );
        systemd.user.timers = byName (
          job:
          lib.nameValuePair job.unit {
            Unit.Description = job.description;
            Timer = job.systemd.timer;
            Install.WantedBy = [ job.systemd.install.WantedBy ];
          }
        );
      })
      (lib.mkIf (cfg.schedule.enable && isDarwin) {
        launchd.agents = byName (
          job:
          lib.nameValuePair job.unit {
            enable = true;
            config = job.launchd // {
              EnvironmentVariables.PATH = path;
              StandardOutPath = "${config.home.homeDirectory}/Library/Logs/${job.unit}.log";
              StandardErrorPath = "${config.home.homeDirectory}/Library/Logs/${job.unit}.log";
            };
          }
        );
      })
    ]
  );
}
