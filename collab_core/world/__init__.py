"""Worlds: covariance spectra, views, coefficients, laws of features, and scenarios of them."""
