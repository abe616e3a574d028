import { ReadFailure } from "../source.ts"

/** What came answers another question than was asked; `country` where it is another storefront's, and says which. */
export function mismatched(detail: string, country?: string): ReadFailure {
  return new ReadFailure("mismatched", detail, country === undefined ? {} : { country })
}
