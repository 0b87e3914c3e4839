"""What there is, for people: ``catalog`` lists and explains, ``templates`` writes new files."""
