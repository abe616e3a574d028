import { parseAppAds } from "../../../src/listings/sources/app-ads.ts"
import { pick, type Random, randomOf } from "./mutations.ts"

const LINES = [
  "google.com, pub-1, DIRECT, f08c47fec0942fa0",
  "facebook.com, 775945366868056, RESELLER, c3e20eee3f780d68",
  "# a comment",
  "OWNERDOMAIN=example.com",
  "MANAGERDOMAIN=example.net, FR",
  "",
  "unity.com,1,direct;x=y",
  "placeholder.example.com, placeholder, DIRECT",
]

const PIECES = [
  "\0",
  "\ufeff",
  "\r",
  "\n",
  "\r\n",
  ",",
  ",,",
  ";",
  "#",
  "=",
  ".",
  "<",
  ">",
  "DIRECT",
  "RESELLER",
  "__proto__=",
  "constructor",
  "\ud83d",
  "\u2028",
  "\u202e",
  "é",
  "🌊",
  " ",
  "\t",
  "\u00a0",
  "-",
  "%00",
  "<html>",
  "\u0130",
  "ß.com",
  "x".repeat(300),
]

/** Yields short files with a few garbled places. The same seed gives the same files. */
export function* appAdsInputs(count: number, seed: number): Generator<string> {
  const random = randomOf(seed)
  for (let n = 0; n < count; n++) {
    let text = Array.from({ length: Math.floor(random() * 8) }, () => pick(random, LINES)).join(
      pick(random, ["\n", "\r\n", "\r"]),
    )
    for (let edits = Math.floor(random() * 6); edits > 0; edits--) text = garbled(text, random)
    yield text
  }
}

function garbled(text: string, random: Random): string {
  const at = Math.floor(random() * (text.length + 1))
  const removedLength = random() < 0.5 ? 0 : Math.floor(random() * 12)
  return `${text.slice(0, at)}${random() < 0.8 ? pick(random, PIECES) : ""}${text.slice(at + removedLength)}`
}

/** Parses a file. Throws when a result cannot be stored or does not occur in the file. */
export function expectAppAds(text: string): void {
  const { records, variables } = parseAppAds(text)
  const lower = text.toLowerCase()
  const texts = records.flatMap(({ publisherId, certId = "" }) => [publisherId, certId])
  const values = Object.values(variables).flat()
  const isInText =
    [...texts, ...values].every((value) => text.includes(value)) &&
    records.every(({ system }) => lower.includes(system))
  const storable = [...texts, ...values, ...records.map(({ system }) => system)].every(
    (value) => !/[\p{C}<>]/u.test(value),
  )
  const keys = records.map(({ system, publisherId, relation }) => JSON.stringify([system, publisherId, relation]))
  if (!isInText || !storable || new Set(keys).size < keys.length)
    throw new Error(`read wrongly: ${JSON.stringify(text)}`)
}
