"""Helpers of the tests that run on the device side: on every runtime, with nothing but what a board has."""
