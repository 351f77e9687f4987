"""Closed-form answers about a world."""
