"""Repeated sampling of rank tables: the tables and figures of a study."""
