import { Buffer } from "node:buffer"
import { hash, verify, X509Certificate } from "node:crypto"

/** SHA-256 of Apple Root CA - G3, which issues the App Store's certificate chain; valid until 2039. */
export const APPLE_ROOTS: readonly string[] = ["63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"]

/** Extension that marks certificates which sign for the App Store: an object id in DER. */
const SIGNS_RECEIPTS = Buffer.from("060a2a864886f76364060b01", "hex")
/** Extension that marks the intermediates which issue those certificates: an object id in DER. */
const SIGNS_FOR_APPLE = Buffer.from("060a2a864886f76364060201", "hex")
const CHAIN = 3

/**
 * Returns the payload of a JWS that the App Store signed: ES256, with a certificate that chains through one
 * intermediate to one of these roots. Each certificate must be valid at the time of signing, and the first two must
 * carry Apple's marks. Undefined otherwise. Does not check for revoked certificates.
 */
export function signedPayload(jws: unknown, roots: readonly string[], at: Date): Record<string, unknown> | undefined {
  try {
    const [header = "", payload = "", signature = ""] = String(jws).split(".")
    const { alg, x5c } = JSON.parse(decoded(header).toString()) as { alg?: unknown; x5c?: unknown }
    if (alg !== "ES256" || !Array.isArray(x5c) || x5c.length !== CHAIN) return undefined
    const [leaf, between, root] = x5c.map((der) => new X509Certificate(Buffer.from(String(der), "base64")))
    if (!leaf || !between || !root || !roots.includes(hash("sha256", root.raw, "hex"))) return undefined
    if (!follows(leaf, between) || !follows(between, root) || !between.ca) return undefined
    if (!leaf.raw.includes(SIGNS_RECEIPTS) || !between.raw.includes(SIGNS_FOR_APPLE)) return undefined
    const key = { key: leaf.publicKey, dsaEncoding: "ieee-p1363" as const }
    if (!verify("sha256", Buffer.from(`${header}.${payload}`), key, decoded(signature))) return undefined
    const content = JSON.parse(decoded(payload).toString()) as Record<string, unknown>
    const signedAt = new Date(typeof content.signedDate === "number" ? content.signedDate : at)
    return [leaf, between, root].every((item) => isValid(item, signedAt)) ? content : undefined
  } catch {
    // A malformed JWS counts as not signed by the App Store.
    return undefined
  }
}

function follows(one: X509Certificate, from: X509Certificate): boolean {
  return one.checkIssued(from) && one.verify(from.publicKey)
}

function isValid({ validFrom, validTo }: X509Certificate, at: Date): boolean {
  return at >= new Date(validFrom) && at <= new Date(validTo)
}

function decoded(part: string): Buffer {
  return Buffer.from(part, "base64url")
}
