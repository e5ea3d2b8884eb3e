"""Which of the listed files a repository has, and which files count as a listed one.

For others: `tasks` says what is to be done, `alternatives` decides about a listing,
`special_files` says where GitHub itself looks for a file,
`names` which names some systems take for one.
"""
