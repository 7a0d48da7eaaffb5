"""Compiled networks beside trained ones, and beside other people's."""
