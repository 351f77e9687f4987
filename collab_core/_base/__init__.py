"""What everything rests on: checks of arguments, linear algebra, threads of BLAS."""
