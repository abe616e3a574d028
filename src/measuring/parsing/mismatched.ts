import { ReadFailure } from "../source.ts"

/**
 * Returns the failure for an answer to another question. `country` is the storefront of the answer, if it is another's.
 */
export function mismatched(detail: string, country?: string): ReadFailure {
  return new ReadFailure("mismatched", detail, country === undefined ? {} : { country })
}
