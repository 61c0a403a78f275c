"""Two versions of the same thing, changed on two machines, made one."""
