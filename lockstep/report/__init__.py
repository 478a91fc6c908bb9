"""The report: one HTML file over certificates, made of what the verifier derived of them.

`certificates` has certificates verified, `figures` binds what is shown to the pointer that backs
it, one module a view makes HTML of a statement, and `page` puts the file together. `docs/report.md`
has the rules.
"""
