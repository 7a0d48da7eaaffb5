"""The result of a verification as one page of HTML that needs nothing beside it."""

from krohn.page.longest import EFFORT
from krohn.page.rendering import check_suffix
from krohn.page.verification_page import Request, write

__all__ = ["EFFORT", "Request", "check_suffix", "write"]
