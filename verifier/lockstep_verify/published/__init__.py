"""Read-only adapters for documents that others published, one module a document.

An adapter re-derives a foreign document from its own declarations and never
writes one. It works for ``--unsigned`` only: such a document names no key.
"""
