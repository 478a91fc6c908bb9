"""Executions in full: observed for a certificate, and repeated from one."""
