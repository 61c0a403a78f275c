"""Setup and uninstall on disk: settings files, backups, the receipt, trials."""
