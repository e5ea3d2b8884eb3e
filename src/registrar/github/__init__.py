"""What a run asks of GitHub, and what the answers mean: models go in, models come out.

From the outside in: `client` gives a client for one repository, and one for many; `rest`, `graphql`
and `bulk` make the calls by PyGithub's methods, and `parse` and `parse_graphql` read our models
from what it gives, by the checks of `fields`; `session` makes attempts until the outcome is final
(read that one first); `classify` says what a refusal means; `transport` lies beneath PyGithub.

Other packages import from `client`, `bulk`, `transport` and `limits` alone.
"""
