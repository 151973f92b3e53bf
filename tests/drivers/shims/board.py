"""Stands for CircuitPython's module, of a board that has no pins: drivers only import it."""
