"""From a plan to the engine's exact integers."""
