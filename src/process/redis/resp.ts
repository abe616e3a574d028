// RESP2, the protocol of Redis.

export function encode(words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`
}

/** Null when not all of it has come. An error reply is an Error with the server's own text. */
export function parse(bytes: Buffer, at: number): { value: unknown; next: number } | null {
  const end = bytes.indexOf("\r\n", at)
  if (end < 0) return null
  const text = bytes.toString("utf8", at + 1, end)
  const next = end + 2
  switch (String.fromCharCode(bytes[at]!)) {
    case "-":
      return { value: new Error(text), next }
    case ":":
      return { value: Number(text), next }
    case "$":
      return parseText(bytes, next, Number(text))
    case "*":
      return parseList(bytes, next, Number(text))
    default:
      return { value: text, next }
  }
}

function parseText(bytes: Buffer, at: number, length: number) {
  if (length < 0) return { value: null, next: at }
  const end = at + length
  return bytes.length < end + 2 ? null : { value: bytes.toString("utf8", at, end), next: end + 2 }
}

function parseList(bytes: Buffer, at: number, length: number) {
  if (length < 0) return { value: null, next: at }
  const values: unknown[] = []
  let next = at
  while (values.length < length) {
    const reply = parse(bytes, next)
    if (!reply) return null
    values.push(reply.value)
    next = reply.next
  }
  return { value: values, next }
}
