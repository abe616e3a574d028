/** A call with a body, for a POSIX shell that has the key in APPMETER_KEY. `body` stands in the line as it is. */
export function postLine(url: string, body: string, options = ""): string {
  return `curl ${options}${KEY_HEADER} -H 'content-type: application/json' -d ${body} ${quoted(url)}`
}

export const KEY_HEADER = `-H "authorization: Bearer $APPMETER_KEY"`

/** For a POSIX shell, in quotes only where it would read something into the text. */
export function quoted(text: string): string {
  return /^[\w:/.%@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
