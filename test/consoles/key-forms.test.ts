import { expect, test } from "bun:test"
import { generateKeyPairSync } from "node:crypto"
import { signingKeyOf } from "../../src/consoles/jwt.ts"

const PEM = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
}).privateKey

const FORMS: [string, string][] = [
  ["as the console gives it", PEM],
  ["with literal line ends", PEM.replaceAll("\n", "\\n")],
  ["with literal line ends, escaped twice", PEM.replaceAll("\n", "\\\\n")],
  ["with literal CRLF", PEM.replaceAll("\n", "\\r\\n")],
  ["in quotes, with literal line ends", JSON.stringify(PEM)],
  ["on one line", PEM.replaceAll("\n", "")],
  ["on one line, with blanks for line ends", PEM.replaceAll("\n", " ")],
  ["with CR alone", PEM.replaceAll("\n", "\r")],
  ["indented", PEM.replaceAll(/^/gm, "    ")],
  ["as base64 of the file", Buffer.from(PEM).toString("base64")],
  ["with a byte order mark and CRLF", `\uFEFF${PEM.replaceAll("\n", "\r\n")}`],
]

for (const [form, text] of FORMS)
  test(`a key ${form} is accepted`, async () => {
    expect((await signingKeyOf(text)).type).toBe("private")
  })

test("a text without a key and a key on another curve are refused", async () => {
  const other = generateKeyPairSync("ec", {
    namedCurve: "P-384",
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  }).privateKey
  for (const text of ["no key", "", PEM.slice(0, 80), other, PEM.replace("MI", "##")]) {
    const refused = await signingKeyOf(text).catch((error: Error) => error.name)
    expect(refused).toBe("AccessProblem")
  }
})
