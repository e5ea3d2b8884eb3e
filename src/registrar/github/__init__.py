"""Everything that this program knows of GitHub's API."""
