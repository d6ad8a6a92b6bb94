"""Cleaning: what is dropped from texts before they are counted."""

from .cleaning import Cleaner, Cleaning, Dropped, as_cleaning, cleaning_options

__all__ = ["Cleaner", "Cleaning", "Dropped", "as_cleaning", "cleaning_options"]
