"""What a user would install instead, on the same documents and the same vectors.

`fits.py` has one function a package, `run.py` runs them in parallel. Both are scripts: they run where neither Grampus
nor the harness is installed. The rows are in quality/peers.py.
"""
