import { normalForm } from "../../lib/normal-form.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** Fails on an address that no source has: a URL, a domain, an email address or an account name. */
export const links: TextRule = (text, { sources }): TextProblem[] => {
  const sourceAddresses = new Set(sources.flatMap(addressesIn))
  const unknown = addressesIn(text).filter((address) => !sourceAddresses.has(address))
  return [...new Set(unknown)].map((what) => ({ rule: "links", what }))
}

/** Returns the addresses in normal form: lower case, without scheme, "www." and closing punctuation. */
export function addressesIn(text: string): string[] {
  const plain = normalForm(text, "NFKC").replace(INVISIBLE, "").replace(SPELT_DOT, ".").toLowerCase()
  return [...plain.matchAll(ADDRESS)].map(([found]) =>
    found
      .replace(/^[a-z][a-z0-9+.-]*:\/\//, "")
      .replace(/^www\./, "")
      .replace(/[/.,;:!?)\]]+$/, ""),
  )
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu
// matches "example (dot) com" and "example[.]com"
const SPELT_DOT = /\s?[([{]\s?(?:dot|\.)\s?[)\]}]\s?/giu

/** Common endings of domains. A missing space after a full stop must not look like a domain. */
const ENDINGS =
  "com|net|org|info|biz|io|app|dev|co|me|ly|gg|tv|xyz|site|online|shop|store|club|link|top|ru|de|uk|fr|es|br|tr|jp|" +
  "kr|cn|in|it|nl|eu|ai"

const ADDRESS = new RegExp(
  [
    "[a-z][a-z0-9+.-]{1,20}://[^\\s<>\"']{1,200}",
    "(?<![\\p{L}\\p{N}])[\\p{L}\\p{N}._%+-]{1,64}@[\\p{L}\\p{N}-]{1,63}(?:\\.[\\p{L}\\p{N}-]{1,63}){1,5}",
    "(?<![\\p{L}\\p{N}@.])(?:www\\.)?[\\p{L}\\p{N}][\\p{L}\\p{N}-]{0,62}(?:\\.[\\p{L}\\p{N}-]{1,63}){0,4}" +
      `\\.(?:${ENDINGS})(?![\\p{L}\\p{N}])(?:/[^\\s<>"']{0,200})?`,
    // with "www." any ending counts
    "(?<![\\p{L}\\p{N}@.])www\\.[\\p{L}\\p{N}-]{1,63}(?:\\.[\\p{L}\\p{N}-]{1,63}){1,4}(?:/[^\\s<>\"']{0,200})?",
    "(?<![\\p{L}\\p{N}@/.])@[\\p{L}\\p{N}_]{2,50}",
  ].join("|"),
  "gu",
)
