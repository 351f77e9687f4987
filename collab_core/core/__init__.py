"""What every method works on: geometry, problems, moments, estimates, covariances."""
