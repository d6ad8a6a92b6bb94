"""Transforms of a Gram: each is a Gram over another Gram and stores what it learned from the collection.

``shift``, ``normalise(0)``, ``centre`` and ``map`` need only products of their base, so they never form n × n.
``power`` and ``normalise(t > 0)`` act entry by entry, on tiles.
"""
