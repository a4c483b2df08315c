"""Memory planning: liveness, the problem, planners, two independent checkers, linked constants."""
