// Loaded before each server of a fleet.
import "./skewed-clock.ts"
import "./bid-action.ts"
