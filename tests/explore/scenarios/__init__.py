"""The scenarios, by subject. catalogue.py names them all."""
