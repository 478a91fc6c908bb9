"""Kinds of servers: how each is asked, read, described and reset; one small module a kind."""
