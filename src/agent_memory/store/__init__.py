"""The notes and the records of work on disk, with the database that is derived from them."""
