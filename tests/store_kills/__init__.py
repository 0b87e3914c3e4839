"""Campaigns that are killed at chosen and at random points, and campaigns that cannot write: see
``run``.
"""
