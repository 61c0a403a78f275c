"""The schedulers of a machine: launchd, the person's systemd, cron."""
