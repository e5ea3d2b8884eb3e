"""The outputs of a run for people and programs: log, annotations, summary, table, page, report."""
