"""Files that an engine's own interpreter runs, which needs no library of Lockstep."""
