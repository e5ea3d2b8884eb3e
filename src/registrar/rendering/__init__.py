"""What a pull request's description and every report share: words for states, and Markdown.

For others: `states` says how states are called, `markdown` writes tables and folded parts,
`description` writes our part of a pull request's description.
"""
