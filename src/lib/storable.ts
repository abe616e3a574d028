/**
 * Returns the value as jsonb can store it: without U+0000 and unpaired surrogates. A value that JSON omits becomes
 * null.
 */
export function storable(value: unknown): unknown {
  const text = JSON.stringify(value) ?? "null"
  // Whole surrogate pairs are not escaped. An escaped backslash is matched with the next character, so that it cannot
  // hide an escape.
  return JSON.parse(text.replace(/\\(?:u0000|ud[89a-f]..|.)/g, (found) => (UNFIT.test(found) ? "\\ufffd" : found)))
}

const UNFIT = /^\\u(?:0000|d)/
