"""Setup, uninstall, settings of harnesses, configuration files and schedules."""
