"""Machines that a run goes through in a bounded number of departures, in few layers."""
