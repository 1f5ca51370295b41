"""Holds forecasts against start-ups that were measured: reads the corpus, forecasts, counts, and writes the page."""
