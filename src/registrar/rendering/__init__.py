"""The parts that descriptions of pull requests and all reports share: words for states, Markdown.

For others: `states` has the words for states, `markdown` writes tables and folded parts,
`description` writes our part of a pull request's description.
"""
