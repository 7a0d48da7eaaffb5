"""Words through networks: all short ones, long hard ones, the shortest wrong one."""
