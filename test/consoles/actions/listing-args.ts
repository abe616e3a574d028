/** Arguments of update_listing, in English by default. */
export function listingArgs(appId: string, fields: object, overrides: object = {}) {
  return { appId, locale: "en-US", fields, ...overrides }
}
