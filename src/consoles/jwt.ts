import { Buffer } from "node:buffer"
import { createPrivateKey } from "node:crypto"
import { AccessProblem } from "../access/problem.ts"

/**
 * Imports an EC key on P-256 from PEM text, as a console or OpenSSL writes it. Accepts text whose line ends are
 * missing, doubled, indented or escaped, and text that is encoded in base64 as a whole. The imported key is not
 * extractable. Throws AccessProblem, whose message contains nothing of the key.
 */
export async function signingKeyOf(pem: string): Promise<CryptoKey> {
  const found = pemIn(pem) ?? pemIn(Buffer.from(pem, "base64").toString("utf8"))
  const key = found === undefined ? null : await imported(found, { name: "ECDSA", namedCurve: "P-256" })
  if (key === null) throw new AccessProblem(NO_KEY, "privateKey")
  return key
}

/** Imports an RSA key from PEM text, like signingKeyOf. Null if the text has no such key or only a part of one. */
export async function rsaSigningKeyOf(pem: string): Promise<CryptoKey | null> {
  const found = pemIn(pem)
  return found === undefined ? null : await imported(found, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" })
}

async function imported(pem: string, algorithm: EcKeyImportParams | RsaHashedImportParams): Promise<CryptoKey | null> {
  try {
    const bytes = new Uint8Array(createPrivateKey(pem).export({ type: "pkcs8", format: "der" }))
    return await crypto.subtle.importKey("pkcs8", bytes, algorithm, false, ["sign"])
  } catch {
    return null
  }
}

/** Returns the private key in the text with normal line breaks. */
function pemIn(text: string): string | undefined {
  const plain = text.replaceAll(/\\+[rn]/g, "\n")
  const [, ec = "", body = ""] =
    /-----BEGIN (EC )?PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END (?:EC )?PRIVATE KEY-----/.exec(plain) ?? []
  if (body === "") return undefined
  const lines = body.replaceAll(/\s+/g, "").match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${ec}PRIVATE KEY-----`, ...lines, `-----END ${ec}PRIVATE KEY-----`, ""].join("\n")
}

const NO_KEY = "the text is not a valid key: a file with an EC key on P-256 between BEGIN and END PRIVATE KEY is needed"

interface TokenClaims {
  issuer: string
  keyId: string
  audience: string
  subject?: string
  /** The rights that the token asks for, separated by blanks. */
  scope?: string
}

/** The maximum lifetime that the console accepts. */
const VALID_S = 20 * 60
/** Backdates tokens so that they are already valid if the console's clock is behind ours. */
const BACK_S = 60

/** Signs a token that is valid for 20 minutes, starting a minute ago (RFC 7519; ES256, or RS256 for an RSA key). */
export async function signToken(key: CryptoKey, of: TokenClaims, at: Date): Promise<string> {
  const { issuer, keyId, audience, subject: sub, scope } = of
  const issuedAt = Math.floor(at.getTime() / 1_000) - BACK_S
  const isRsa = key.algorithm.name !== "ECDSA"
  const head = { alg: isRsa ? "RS256" : "ES256", kid: keyId, typ: "JWT" }
  const claims = {
    iss: issuer,
    iat: issuedAt,
    exp: issuedAt + VALID_S,
    aud: audience,
    ...(sub !== undefined && { sub }),
    ...(scope !== undefined && { scope }),
  }
  const text = [head, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")
  const algorithm = isRsa ? "RSASSA-PKCS1-v1_5" : { name: "ECDSA", hash: "SHA-256" }
  const signature = await crypto.subtle.sign(algorithm, key, new TextEncoder().encode(text))
  return `${text}.${Buffer.from(signature).toString("base64url")}`
}

/** A token is valid while the console's clock is at most this far behind ours. */
export const TOKEN_BACK_MS = BACK_S * 1_000
/** A token is valid while the console's clock is at most this far ahead of ours. */
export const TOKEN_AHEAD_MS = (VALID_S - BACK_S) * 1_000

/** How long a token may be reused, so that it does not expire during a request. */
export const TOKEN_USE_MS = (VALID_S - BACK_S - 2 * 60) * 1_000
