"""Helpers for the engine tests: executors by factories, and batch system commands that run jobs
immediately.
"""
