/** A stored row that is not what was written; its code is what PostgreSQL has for damage that it finds itself. */
export class DamagedRow extends Error {
  override name = "DamagedRow"
  readonly code = "XX001"
}

export const NO_APP = "a packed place names an app that is not among its apps"
