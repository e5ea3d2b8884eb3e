"""What a run asks of GitHub, and what the answers mean: models go in, models come out.

From the outside in: `client` gives a client for one repository, and one for many; `rest`, `graphql`
and `bulk` hold their calls, and `parse` and `parse_graphql` read the answers; `session` sends each
request until its outcome is final (read that one first); `classify` says what an answer means;
`transport` brings it here.

Other packages import from `client`, `bulk`, `transport` and `limits` alone.
"""
