"""What verification came to as one page of HTML that needs nothing beside it."""

from krohn.page.longest import EFFORT
from krohn.page.page import Request, write
from krohn.page.rendering import check_suffix

__all__ = ["EFFORT", "Request", "check_suffix", "write"]
