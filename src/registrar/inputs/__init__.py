"""Options and environment -> settings, with every diagnostic at once."""
