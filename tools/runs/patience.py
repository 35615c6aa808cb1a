"""How long the tests wait, in seconds, for what has to come: for the end of a run, or for a line of its
output. On a machine that is not busy it comes within two minutes at most. The time is there for what
hangs, and a busy machine does not reach it."""
PATIENCE = 1200
