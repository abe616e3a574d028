/** A person or program that sends or receives mail. */
export interface Mailbox {
  /** Shown before the address. Empty if there is none. */
  name: string
  address: string
}

const MAX_ADDRESS = 254
const MAX_NAME = 100
/** RFC 5321, Dot-string. Quoted local parts are legal and rare, and hide line breaks and other recipients. */
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~-]{1,64}(?:\.[\w!#$%&'*+/=?^`{|}~-]{1,64})*$/
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/

/**
 * Returns an address with its domain in lower case. Null if the text is no address, or an address that only mail
 * servers with SMTPUTF8 accept. The result contains no white space, quote, comma or line break, so that it can name one
 * recipient only.
 */
export function mailAddressOf(text: string): string | null {
  const trimmed = text.trim()
  const at = trimmed.lastIndexOf("@")
  const [local, domain] = [trimmed.slice(0, at), trimmed.slice(at + 1).toLowerCase()]
  const isAddress = at > 0 && local.length <= 64 && trimmed.length <= MAX_ADDRESS
  return isAddress && LOCAL.test(local) && DOMAIN.test(domain) ? `${local}@${domain}` : null
}

/** Parses "Name <address>" or a bare address. Null if it is neither. */
export function mailboxOf(text: string): Mailbox | null {
  const [, quoted, typed] = /^(.*?)\s*<([^<>]*)>$/s.exec(text.trim()) ?? [null, "", text]
  const name = quoted!.trim().replace(/^"(.*)"$/s, "$1")
  const address = mailAddressOf(typed!)
  return address === null || name.length > MAX_NAME || !isPlain(name) ? null : { name, address }
}

/** Returns true if a text has no control character, with which it could begin another header. */
function isPlain(text: string): boolean {
  return !/[\p{Cc}\u2028\u2029]/u.test(text) && text.isWellFormed()
}
