"""Descriptions for people: ``catalog`` lists, ``meanings`` explains, ``templates`` writes new
files.
"""
