"""Tests that need more than one face."""
