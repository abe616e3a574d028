/** Where an answer may be sent: https, http on this machine, or a private scheme of an app, as RFC 8252 has it. */
export function isUsableRedirect(uri: string): boolean {
  if (uri.length > LONGEST || !/^[!-~]+$/.test(uri) || /[#\\]/.test(uri)) return false
  const url = URL.parse(uri)
  if (!url || url.username || url.password || /^[^/?]*\/\/[^/?]*@/.test(uri)) return false
  if (url.protocol === "https:") return /^https:\/\/[^/?]/i.test(uri)
  if (url.protocol === "http:") return LOOPBACK.test(uri)
  return !REFUSED_SCHEMES.has(url.protocol) && /^[a-z][a-z\d+.-]*:\/./.test(uri)
}

/** Whether a client registered that address: to the letter, or on this machine at another port (RFC 8252, 7.3). */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true
  const own = LOOPBACK.exec(uri)
  if (!own || !isUsableRedirect(uri)) return false
  return registered.some((one) => {
    const other = LOOPBACK.exec(one)
    return other !== null && other[1] === own[1] && (other[2] ?? "") === (own[2] ?? "")
  })
}

/** Whom an owner would send an answer to: a host, or the scheme of an app. */
export function redirectHost(uri: string): string {
  const url = new URL(uri)
  return /^https?:$/.test(url.protocol) ? url.hostname : url.protocol
}

export function isLoopback(uri: string): boolean {
  return LOOPBACK.test(uri)
}

const LONGEST = 2_000

/** The host, and what follows its port. */
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?([/?].*)?$/

/** Of these a browser makes a page, runs a script, or reads a file. */
const REFUSED_SCHEMES = new Set(
  "javascript data vbscript file blob about filesystem view-source ws wss ftp chrome edge resource jar mailto tel sms intent"
    .split(" ")
    .map((name) => `${name}:`),
)
