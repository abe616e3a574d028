const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** The current time in tests that use a fixed clock. */
export const NOW = new Date("2025-11-20T12:00:00Z")

/** Returns the real time that many hours ago, in ISO 8601. */
export const hoursAgo = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString()

/** Returns the real time that many days ago, in ISO 8601. */
export const daysAgo = (days: number): string => hoursAgo(24 * days)

/** Returns the UTC day that many days before today. */
export const dayAgo = (days: number): string => daysAgo(days).slice(0, 10)
