"""Texts: catalogues, placeholders, escaping. Imports nothing else of the package."""
