"""Tags of all notes together: which a person has accepted, which are other names for them, which are nearly the same."""
