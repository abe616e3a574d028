/**
 * Whether a redirect may go there: https, http on this machine, or a private scheme of an app. Such a scheme is a
 * reversed domain name (RFC 8252, 7.1) or belongs to a known client: any other may belong to a handler of the operating
 * system.
 */
export function isUsableRedirect(uri: string): boolean {
  if (uri.length > LONGEST || !/^[!-~]+$/.test(uri) || /[#\\]/.test(uri)) return false
  const url = URL.parse(uri)
  if (!url || url.username || url.password || /^[^/?]*\/\/[^/?]*@/.test(uri)) return false
  if (url.protocol === "https:") return /^https:\/\/[^/?]/i.test(uri)
  if (url.protocol === "http:") return LOOPBACK.test(uri)
  const scheme = url.protocol.slice(0, -1)
  return (REVERSED_DOMAIN.test(scheme) || KNOWN_SCHEMES.has(scheme)) && /^[a-z][a-z\d+.-]*:\/./.test(uri)
}

/** Whether a client registered this address: identical, or on this machine with a different port (RFC 8252, 7.3). */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (!isUsableRedirect(uri)) return false
  if (registered.includes(uri)) return true
  const requested = LOOPBACK.exec(uri)
  if (!requested) return false
  return registered.some((one) => {
    const other = LOOPBACK.exec(one)
    return other !== null && other[1] === requested[1] && (other[2] ?? "") === (requested[2] ?? "")
  })
}

/** Returns the recipient of a redirect as shown to the owner: a host, or the scheme of an app. */
export function redirectHost(uri: string): string {
  const url = new URL(uri)
  return /^https?:$/.test(url.protocol) ? url.hostname : url.protocol
}

export function isLoopback(uri: string): boolean {
  return LOOPBACK.test(uri)
}

const LONGEST = 2_000

/** Captures the host, and the text after the port. */
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?([/?].*)?$/

/** A top-level domain has only letters, so x-apple.systempreferences does not match. */
const REVERSED_DOMAIN = /^[a-z]{2,}(\.[a-z\d][a-z\d-]*)+$/

/** Schemes without a dot that assistants use. */
const KNOWN_SCHEMES = new Set([
  "cherrystudio",
  "claude",
  "cursor",
  "goose",
  "kiro",
  "lmstudio",
  "raycast",
  "trae",
  "vscode",
  "vscode-insiders",
  "vscodium",
  "warp",
  "windsurf",
  "windsurf-next",
  "zed",
])
