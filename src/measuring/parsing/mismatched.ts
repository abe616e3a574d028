import { ReadFailure } from "../source.ts"

/**
 * Returns the failure for a response to another question. `country` is the storefront of the response, if it is not the
 * requested one.
 */
export function mismatched(detail: string, country?: string): ReadFailure {
  return new ReadFailure("mismatched", detail, country === undefined ? {} : { country })
}
