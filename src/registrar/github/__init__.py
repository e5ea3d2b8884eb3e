"""GitHub's API: requests, the meaning of its answers, retries and limits."""
