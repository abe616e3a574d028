import { describe, expect, test } from "bun:test"
import { unzipped } from "../../../src/consoles/play/unzip.ts"
import { zipOf } from "./zip.ts"

const CSV = Buffer.from("Order Number,Amount\nGPA.1,4.99\n")
const entry = { name: "salesreport_202610.csv", content: CSV }

test("an archive's only file is unpacked, compressed or not, and the path in its name is ignored", async () => {
  for (const file of [entry, { ...entry, method: 0 }, { ...entry, name: "../../../etc/passwd" }])
    expect(Buffer.from(await unzipped(zipOf(file)))).toEqual(CSV)
  const commented = Buffer.concat([zipOf(entry), Buffer.from("made by Google")])
  commented.writeUInt16LE(14, commented.length - 14 - 2)
  expect(Buffer.from(await unzipped(commented))).toEqual(CSV)
  expect(await unzipped(zipOf({ ...entry, content: new Uint8Array() }))).toHaveLength(0)
})

describe("an archive is refused", () => {
  const zeros = new Uint8Array(2_000_000)
  const good = zipOf(entry)
  const CASES: [string, Uint8Array, RegExp][] = [
    ["with two files", zipOf(entry, { ...entry, name: "b.csv" }), /has 2 files instead of one/],
    ["without a file", zipOf(), /has 0 files instead of one/],
    ["with an encrypted file", zipOf({ ...entry, flags: 9 }), /is encrypted/],
    ["with an unknown method", zipOf({ ...entry, method: 12 }), /unknown method 12/],
    ["with another archive within", zipOf({ ...entry, content: good }), /contains another archive/],
    ["that is far smaller than its file", zipOf({ ...entry, content: zeros }), /times larger than the archive/],
    ["whose file is over the limit", zipOf({ ...entry, size: 96_000_001 }), /at most 96000000 are unpacked/],
    ["whose file hides its size", zipOf({ ...entry, content: zeros, size: 10 }), /larger than it states/],
    ["whose file is smaller than it states", zipOf({ ...entry, size: 500 }), /differs from the stated size/],
    ["whose file is damaged", zipOf({ ...entry, checksum: 1 }), /the checksum differs/],
    ["that is cut off", good.subarray(0, good.length - 5), /not a zip archive, or it is cut off/],
    ["that is no archive", CSV, /not a zip archive/],
    ["of no bytes", new Uint8Array(), /not a zip archive/],
  ]
  for (const [name, archive, message] of CASES)
    test(name, async () => {
      const problem = await unzipped(archive).catch((error: Error) => error)
      expect(problem).toMatchObject({ name: "ReadFailure", message: expect.stringMatching(message) })
    })
})

test("an archive with any byte changed is either refused or unpacked to the same file", async () => {
  const good = zipOf(entry)
  for (const at of good.keys()) {
    const changed = Uint8Array.from(good)
    changed[at]! ^= 0x55
    const found = await unzipped(changed).catch((error: Error) => error)
    if (found instanceof Error) expect(found.name).toBe("ReadFailure")
    else expect(Buffer.from(found)).toEqual(CSV)
  }
})
