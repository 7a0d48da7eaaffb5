"""Compiled networks beside other people's."""
