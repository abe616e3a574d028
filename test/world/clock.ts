const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** The present of tests whose clock stands still. */
export const NOW = new Date("2025-11-20T12:00:00Z")

/** The moment that many hours before the real present, in ISO 8601. */
export const hoursAgo = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString()

/** The moment that many days before the real present, in ISO 8601. */
export const daysAgo = (days: number): string => hoursAgo(24 * days)

/** The UTC day that many days before today. */
export const dayAgo = (days: number): string => daysAgo(days).slice(0, 10)
