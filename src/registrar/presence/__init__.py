"""Which files count as a listed one.

For others: `alternatives` decides about a listing, `special_files` says where GitHub itself looks
for a file.
"""
