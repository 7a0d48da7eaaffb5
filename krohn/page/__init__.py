"""What verification came to as one page of HTML that needs nothing beside it."""

from krohn.page.longest import SECONDS
from krohn.page.page import Request, check_suffix, write

__all__ = ["SECONDS", "Request", "check_suffix", "write"]
