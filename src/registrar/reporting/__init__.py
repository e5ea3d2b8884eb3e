"""What people and programs read of a run: log, annotations, summary, description, report."""
