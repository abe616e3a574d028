/** Goes up where `shown` says something else than before. */
export const FORM = 1

/** Between the parts, and of those there is one a line: JSON has no such letter. */
export const PART = "\u0002"
