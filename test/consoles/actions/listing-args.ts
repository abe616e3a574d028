/** Arguments of update_listing, in English by default. */
export function listingArgs(appId: string, fields: object, more: object = {}) {
  return { appId, locale: "en-US", fields, ...more }
}
