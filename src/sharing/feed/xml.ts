const REFERENCES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  // a parser would turn a plain carriage return into a line feed
  "\r": "&#13;",
}

/** Characters that XML 1.0 cannot represent in any form: controls, U+FFFE, U+FFFF and halves of surrogate pairs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
const IMPOSSIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu

/**
 * Escapes a text for an element or an attribute in double quotes. Replaces characters that XML cannot represent by
 * U+FFFD.
 */
export function xmlText(text: string): string {
  return text.replace(IMPOSSIBLE, "\ufffd").replace(/[&<>"'\r]/g, (character) => REFERENCES[character] as string)
}
