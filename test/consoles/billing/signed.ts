import { createHash, createPrivateKey, sign } from "node:crypto"

/** Test certificates like the App Store's: a leaf, an intermediate and a root, with Apple's two object ids. */
const LEAF =
  "MIIBcDCCARagAwIBAgIBAzAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxUZXN0IEJldHdlZW4wIBcNMjAwMTAxMDAwMDAwWhgPMjEy" +
  "MDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMMCVRlc3QgTGVhZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDNQcbfH1mBNJlUR1q1G" +
  "yYVo6gBISKEMPhpOHS7VdNtsj5Z+rmb/ZfJln0E0mMmoIRAfxnPNMsqE3Lle52c0cXOjVDBSMBAGCiqGSIb3Y2QGCwEEAgUAMB0G" +
  "A1UdDgQWBBQg7SteQ94p4KDwepMxQZY0MhZByDAfBgNVHSMEGDAWgBQFECruBoOf+y/hzkizNuiJggtMBDAKBggqhkjOPQQDAgNI" +
  "ADBFAiAJu0XTFPVLfc1Ffgc7voxBhFLl4UjjB58NOHIRVf91gwIhAOHCnWF/N0u7f/COLJVIxjTqxMvQWHeJ0cuGq5/+T3IT"
const BETWEEN =
  "MIIBgDCCASegAwIBAgIBAjAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlUZXN0IFJvb3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAx" +
  "MDEwMDAwMDBaMBcxFTATBgNVBAMMDFRlc3QgQmV0d2VlbjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDkYIoUR1apeFMZaXMdd" +
  "frPbMsehH/so+2b79qkAuz3z/N7YVYFnohSkAOIlDCAejjdiCJCczx1Ut2mdftx21nOjZTBjMA8GA1UdEwEB/wQFMAMBAf8wEAYK" +
  "KoZIhvdjZAYCAQQCBQAwHQYDVR0OBBYEFAUQKu4Gg5/7L+HOSLM26ImCC0wEMB8GA1UdIwQYMBaAFLtxgA+sHlyI5VXdSV9SeZ+K" +
  "4pNfMAoGCCqGSM49BAMCA0cAMEQCIF2TOVooAg/R68p6TCGESEA+SfQsVGuBjKNT00h3B4RjAiBZ2CcJYZSp5QsPEFAKRaS77xz5" +
  "FA1gOtIREPRRUQJWjQ=="
const ROOT =
  "MIIBSzCB8aADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCVRlc3QgUm9vdDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEw" +
  "MTAwMDAwMFowFDESMBAGA1UEAwwJVGVzdCBSb290MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEZ0l5mkLba6tr1xP1gD2H6ZW1" +
  "SYv8WburnA2XKaWNa3m9H1+nXEulu/s+4APYwrK37zkQbToAempcMm4Ar6fsbKMyMDAwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4E" +
  "FgQUu3GAD6weXIjlVd1JX1J5n4rik18wCgYIKoZIzj0EAwIDSQAwRgIhAK12N9owm7VCCGkiPfsQipKvEgfTVmo2IY0kQP3Z7wLs" +
  "AiEA8Ht6JeTW0IYL+7mckeqwpcjPblGq7sw3ZoqKbcp09b0="
/** The leaf's private key, which is used only for these tests. */
const LEAF_KEY =
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBkxO4YxdIyX5V7Wut1JWvVrgjlZ4CJ7Ms0823K/5AUuhRANCAAQz" +
  "UHG3x9ZgTSZVEdatRsmFaOoASEihDD4aTh0u1XTbbI+Wfq5m/2XyZZ9BNJjJqCEQH8ZzzTLKhNy5XudnNHFz"

/** The root that the test accounts accept as Apple's. */
export const TEST_ROOT = createHash("sha256").update(Buffer.from(ROOT, "base64")).digest("hex")

export const TEST_CHAIN = [LEAF, BETWEEN, ROOT] as const

/** Signs a payload with the key of the first certificate of a chain. */
export function jws(payload: object, chain: readonly string[] = TEST_CHAIN, leafKey = LEAF_KEY): string {
  const head = { alg: "ES256", x5c: chain }
  const text = [head, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")
  const key = createPrivateKey({ key: Buffer.from(leafKey, "base64"), format: "der", type: "pkcs8" })
  const signature = sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" })
  return `${text}.${signature.toString("base64url")}`
}

/** Returns a notification with its transaction, in the App Store's format. */
export function signedNotification(
  payload: { data?: object; [field: string]: unknown },
  transaction?: object,
): { signedPayload: string } {
  const data = transaction && { ...payload.data, signedTransactionInfo: jws(transaction) }
  return { signedPayload: jws({ ...payload, ...(data && { data }) }) }
}
