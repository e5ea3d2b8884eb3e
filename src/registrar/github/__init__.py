"""The requests of a run to GitHub, and the meaning of the answers.

Callers pass our models and get our models. From the outside in: `client` makes a client for one
repository, and one for many. `rest`, `graphql` and `bulk` send the requests with PyGithub. `parse`
and `parse_graphql` turn the answers into our models, with the checks of `fields`. `session` repeats
each request until its outcome is final (read this module first). `classify` is the table of what
refusals mean. `transport` is the layer beneath PyGithub.

Other packages import from `client`, `bulk`, `transport` and `limits` alone.
"""
