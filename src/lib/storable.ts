/** The value as jsonb can hold it: no U+0000, no half of a surrogate pair. What JSON leaves out is null. */
export function storable(value: unknown): unknown {
  const text = JSON.stringify(value) ?? "null"
  // whole pairs are not escaped; an escaped backslash is taken with what follows, so that it hides nothing
  return JSON.parse(text.replace(/\\(?:u0000|ud[89a-f]..|.)/g, (found) => (UNFIT.test(found) ? "\\ufffd" : found)))
}

const UNFIT = /^\\u(?:0000|d)/
