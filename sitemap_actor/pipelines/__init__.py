"""Item pipelines: each filters the columns of a batch, or delivers what is left. Order and reasons: settings.py."""
