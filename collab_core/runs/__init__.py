"""Simulation: draws, chunks, plans, and the curves that come out."""
