"""Names that tests import from here until they import them from made_up_project."""

from made_up_project import ROOT, Project, archive, copy_of_project, ratings

__all__ = ["ROOT", "Project", "archive", "copy_of_project", "ratings"]
