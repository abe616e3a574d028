import { Buffer } from "node:buffer"
import { hash, verify, X509Certificate } from "node:crypto"

/** SHA-256 of Apple Root CA - G3, from which the App Store's certificates follow; it is valid until 2039. */
export const APPLE_ROOTS: readonly string[] = ["63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"]

/** What Apple marks certificates with that sign for the store, and those that these follow from: object ids in DER. */
const SIGNS_RECEIPTS = Buffer.from("060a2a864886f76364060b01", "hex")
const SIGNS_FOR_APPLE = Buffer.from("060a2a864886f76364060201", "hex")
const CHAIN = 3

/**
 * What a JWS of the App Store says, if it is the App Store's: ES256 by a certificate that follows, by one other, from one of
 * these roots, each valid when it was signed, and marked for it. Undefined otherwise. Not asked is whether a certificate was
 * withdrawn since.
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
    const said = JSON.parse(decoded(payload).toString()) as Record<string, unknown>
    const signedAt = new Date(typeof said.signedDate === "number" ? said.signedDate : at)
    return [leaf, between, root].every((one) => isValid(one, signedAt)) ? said : undefined
  } catch {
    // what cannot be taken apart is not theirs
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
