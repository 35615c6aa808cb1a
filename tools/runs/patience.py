"""The time in seconds that the tests wait for the end of a run, or for a line of its output. An idle machine needs two
minutes at most. Only a run that hangs reaches the limit, not a busy machine.
"""
PATIENCE = 1200
