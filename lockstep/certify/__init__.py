"""Certify an endpoint by conditions that must not matter (spec/certification.md)."""
