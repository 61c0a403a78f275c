# The scheduled jobs, from the file that `memory schedule on` takes them from. `settings` are those of the module; `program` is
# the path of `memory`. The rules are those of agent_memory/setup/schedule.py.
{ lib }:
let
  source = builtins.fromJSON (builtins.readFile ../plists/jobs.json);
  minute = 60;
  hour = 3600;
  day = 86400;

  divides = whole: part: lib.mod whole part == 0;
  periods =
    map (n: n * minute) (lib.filter (divides 60) (lib.range 1 59))
    ++ map (n: n * hour) (lib.filter (divides 24) (lib.range 1 23))
    ++ [ day ];

  tickOf =
    interval:
    let
      fitting = lib.filter (period: period <= interval) periods;
      even = lib.filter (divides interval) fitting;
      longest = lib.foldl' lib.max 0;
    in
    if even == [ ] then longest fitting else longest even;

  onCalendar =
    tick:
    if tick == day then
      "*-*-* 03:00:00"
    else if tick == hour then
      "*-*-* *:00:00"
    else if tick > hour then
      "*-*-* 00/${toString (tick / hour)}:00:00"
    else if tick == minute then
      "*-*-* *:*:00"
    else
      "*-*-* *:00/${toString (tick / minute)}:00";
in
{
  inherit tickOf onCalendar;

  jobs =
    settings: program:
    lib.mapAttrs (
      name: job:
      let
        interval = builtins.floor (settings.schedule.${job.interval} * hour + 0.5);
        tick = tickOf interval;
        every = lib.optionals (tick != interval) [
          "--every"
          (toString interval)
        ];
      in
      {
        inherit (job) description;
        unit = "agent-memory-${name}";
        systemd = {
          service = source.systemd.Service // {
            ExecStart = lib.concatStringsSep " " (
              [
                program
                "schedule"
                "run"
                name
              ]
              ++ every
            );
          };
          timer = {
            OnCalendar = onCalendar tick;
          }
          // source.systemd.Timer
          // lib.optionalAttrs (tick < 20 * minute) {
            RandomizedDelaySec = "${toString (tick / 10)}s";
            AccuracySec = "1s";
          };
          install = source.systemd.Install;
        };
        launchd = source.launchd // {
          Label = "com.agent-memory.${name}";
          ProgramArguments = [
            program
            "schedule"
            "run"
            name
          ];
          StartInterval = interval;
        };
      }
    ) source.jobs;
}
