import { generateKeyPairSync } from "node:crypto"

/** A key pair for Apple Ads, both keys in PEM format. */
export interface KeyPair {
  publicKey: string
  privateKey: string
}

export function createKeyPair(): KeyPair {
  return generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  })
}
