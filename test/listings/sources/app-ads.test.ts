import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseAppAds } from "../../../src/listings/sources/app-ads.ts"
import { slow } from "../../long.ts"
import { appAdsInputs, expectAppAds } from "../../stores/parsing/app-ads-inputs.ts"

const records = (text: string) => parseAppAds(text).records

describe("a record of app-ads.txt", () => {
  const GOOGLE = { system: "google.com", publisherId: "pub-1", relation: "DIRECT" as const, certId: "f08c47fec0942fa0" }
  test.each([
    ["as the rules write it", "google.com, pub-1, DIRECT, f08c47fec0942fa0"],
    ["without white space", "google.com,pub-1,DIRECT,f08c47fec0942fa0"],
    ["with much of it", "\t google.com ,\tpub-1\u00a0, DIRECT  , f08c47fec0942fa0 \t"],
    ["in lower case", "google.com, pub-1, direct, f08c47fec0942fa0"],
    ["with a domain in upper case", "GOOGLE.COM, pub-1, Direct, f08c47fec0942fa0"],
    ["before a comment", "google.com, pub-1, DIRECT, f08c47fec0942fa0 # all of it, DIRECT"],
    ["with an extension", "google.com, pub-1, DIRECT, f08c47fec0942fa0;x=1,y"],
    ["with more fields", "google.com, pub-1, DIRECT, f08c47fec0942fa0, more"],
    ["after a byte order mark", "\ufeffgoogle.com, pub-1, DIRECT, f08c47fec0942fa0"],
  ])("a record with %s is read", (_, line) => {
    expect(records(line)).toEqual([GOOGLE])
    expect(records(`# first\r\n\r\n${line}\r\n`)).toEqual([GOOGLE])
  })

  test("a record with a missing or invalid certification id is read without the id", () => {
    for (const line of [
      "a.com, 1, RESELLER",
      "a.com, 1, RESELLER,",
      "a.com, 1, RESELLER;x",
      "a.com, 1, RESELLER, no id",
    ])
      expect(records(line)).toEqual([{ system: "a.com", publisherId: "1", relation: "RESELLER" }])
  })

  test("a repeated record is returned once, with the valid certification id of any repetition", () => {
    const text =
      "b.com, 2, DIRECT\na.com, 1, DIRECT\nA.com,1,direct, f00\na.com, 1, DIRECT, bad\na.com, 1, RESELLER\na.com, " +
      "X1, DIRECT"
    expect(records(text)).toEqual([
      { system: "b.com", publisherId: "2", relation: "DIRECT" },
      { system: "a.com", publisherId: "1", relation: "DIRECT", certId: "f00" },
      { system: "a.com", publisherId: "1", relation: "RESELLER" },
      { system: "a.com", publisherId: "X1", relation: "DIRECT" },
    ])
  })

  test.each([
    ["of two fields", "google.com, pub-1"],
    ["of white space alone between its fields", "admanmedia.com   1912  RESELLER"],
    ["of another relation", "google.com, pub-1, BOTH"],
    ["without an id", "google.com, , DIRECT"],
    ["without a domain", ", pub-1, DIRECT"],
    ["of one label", "google, pub-1, DIRECT"],
    ["of an address", "https://google.com, pub-1, DIRECT"],
    ["of a broken domain", "google..com, pub-1, DIRECT"],
    ["with a character that cannot be stored", "google.com, pub\0-1, DIRECT"],
    ["with markup", "google.com, <b>pub-1</b>, DIRECT"],
    ["in a comment", "# google.com, pub-1, DIRECT"],
    ["after a semicolon", ";google.com, pub-1, DIRECT"],
    ["that says there is none", "placeholder.example.com, placeholder, DIRECT, placeholder"],
  ])("a line %s is skipped, and the other lines are read", (_, line) => {
    expect(records(line)).toEqual([])
    expect(records(`${line}\nb.com, 2, DIRECT`)).toHaveLength(1)
  })
})

test("every kind of line ending ends a line", () => {
  expect(
    records("a.com,1,DIRECT\rb.com,2,DIRECT\r\nc.com,3,DIRECT\n\nd.com,4,DIRECT").map(({ system }) => system),
  ).toEqual(["a.com", "b.com", "c.com", "d.com"])
})

describe("a variable of app-ads.txt", () => {
  test("a variable is stored under its upper-case name, each value once", () => {
    const text =
      "OwnerDomain=a.com\nMANAGERDOMAIN = b.com, FR\nmanagerdomain=c.com\nMANAGERDOMAIN=c.com # again\n" +
      "CONTACT=ads@a.com\ncontact=https://a.com/contact\nSUBDOMAIN=x.a.com\nINVENTORYPARTNERDOMAIN=d.com"
    expect(parseAppAds(text)).toEqual({
      records: [],
      variables: {
        OWNERDOMAIN: ["a.com"],
        MANAGERDOMAIN: ["b.com, FR", "c.com"],
        CONTACT: ["ads@a.com", "https://a.com/contact"],
        SUBDOMAIN: ["x.a.com"],
        INVENTORYPARTNERDOMAIN: ["d.com"],
      },
    })
  })

  test("a variable is skipped if it is unknown, empty or cannot be stored", () => {
    const text = "color=red\nOWNERDOMAIN=\nOWNERDOMAIN= # none\nCONTACT=a\0b\n=x\n__proto__=x\nconstructor=x"
    expect(parseAppAds(text)).toEqual({ records: [], variables: {} })
  })
})

test.each([
  "<!DOCTYPE html><html><body>google.com, pub-1, DIRECT</body></html>",
  "\n\n<html>\nOWNERDOMAIN=a.com\na.com, 1, DIRECT\n</html>",
  "\ufeff<?xml version='1.0'?>\na.com, 1, DIRECT",
  "Not found",
  '{"error":"not found"}',
  "",
  "\n",
  "# nothing yet",
])("a body that is not an app-ads.txt file has no records: %p", (text) => {
  expect(parseAppAds(text)).toEqual({ records: [], variables: {} })
})

test("2,000 garbled files are parsed without an error and give only values that can be stored", () => {
  for (const input of appAdsInputs(2_000, 1)) expectAppAds(input)
})

slow("half a megabyte of any text is parsed in linear time", () => {
  const pieces = ["a.", "=", ",", "a", "#", " ", "\r", "a,", "A=", "OWNERDOMAIN=a\n", "a.com,1,DIRECT\n", "é", "\ud800"]
  const startedAt = performance.now()
  for (const piece of pieces) parseAppAds(`a${piece.repeat(512_000 / piece.length)}`)
  expect(performance.now() - startedAt).toBeLessThan(10_000)
})

const INVENTED = `# ads of an invented studio
OWNERDOMAIN=example.com
google.com, pub-1022958838, DIRECT, f08c47fec0942fa0
#--- resellers
Unity.com, 2881, reseller
pangle.example, 5015768, DIRECT # two of them
pangle.example, 86231, DIRECT
`

test("the sample file, and every real file if present, is read completely", () => {
  const folder = join(import.meta.dirname, "../../../shared/data/05-hints-app-ads/app-ads")
  const real = existsSync(folder) ? readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8")) : []
  for (const text of [INVENTED, ...real]) {
    // Counted without the parser: lines with three or more fields.
    const lines = text.split("\n").map((line) => line.replace(/#.*/, ""))
    const fields = lines.map((line) => line.split(",").map((field) => field.trim())).filter(({ length }) => length > 2)
    const keys = fields.map(([system, id, relation]) => [system!.toLowerCase(), id, relation!.toUpperCase()].join())
    expect(records(text).map(({ system, publisherId, relation }) => [system, publisherId, relation].join())).toEqual([
      ...new Set(keys),
    ])
  }
})
