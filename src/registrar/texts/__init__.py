"""Texts for people: catalogues, placeholders, escaping. It imports nothing else of registrar."""
