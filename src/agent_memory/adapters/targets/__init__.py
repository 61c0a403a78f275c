"""The files of others in which we own a section."""
