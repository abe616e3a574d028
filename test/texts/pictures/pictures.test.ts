import { describe, expect, test } from "bun:test"
import { LISTING_LOCALES } from "../../../src/lib/locales.ts"
import { linesOf } from "../../../src/texts/pictures/lines.ts"
import { pictureSize } from "../../../src/texts/pictures/picture-size.ts"
import { readableAddress } from "../../../src/texts/pictures/read-pictures.ts"
import { dataFor, dataNameOf } from "../../../src/texts/pictures/trained-data.ts"

const SIZE = { width: 1_000, height: 2_000 }

describe("lines of words", () => {
  const row = (line: number, x: number, text: string, { height = 60, sure = 95.7, y = 100 * line } = {}) =>
    ["5", 1, 1, 1, line, 1, x, y, 100, height, sure, text].join("\t")
  const page = ["1\t1\t0\t0\t0\t0\t0\t0\t1000\t2000\t-1\t"]

  test("adjacent large words form lines from top to bottom, and a line has the lowest confidence of its words", () => {
    const table = [
      ...page,
      row(2, 10, "every"),
      row(1, 10, "A"),
      row(1, 120, "calm", { sure: 81.2 }),
      row(2, 120, "day"),
    ]
    expect(linesOf(table.join("\n"), SIZE)).toEqual({
      ...SIZE,
      lines: [
        { text: "A calm", confidence: 81, x: 10, y: 100, width: 210, height: 60 },
        { text: "every day", confidence: 95, x: 10, y: 200, width: 210, height: 60 },
      ],
    })
  })

  test("words that a wide gap separates are in different lines", () => {
    const table = [row(1, 10, "left"), row(1, 700, "right")].join("\n")
    expect(linesOf(table, SIZE).lines.map(({ text }) => text)).toEqual(["left", "right"])
  })

  test("small words, uncertain words and symbols form no lines", () => {
    const table = [
      row(1, 10, "small", { height: 38 }),
      row(2, 10, "unsure", { sure: 79 }),
      row(3, 10, "©"),
      row(4, 10, " "),
    ]
    expect(linesOf(table.join("\n"), SIZE).lines).toEqual([])
  })

  test("words of a script without spaces are joined without spaces", () => {
    const table = [row(1, 10, "静かな"), row(1, 200, "日記")].join("\n")
    expect(linesOf(table, SIZE).lines[0]!.text).toBe("静かな日記")
  })
})

describe("the size of a picture", () => {
  const jpeg = (...segments: number[][]) => new Uint8Array([0xff, 0xd8, ...segments.flat()])
  const frame = [0xff, 0xc2, 0, 17, 8, 0x08, 0xc3, 0x04, 0x0d, 3, 0, 0, 0]

  test("the size of a picture comes from its header, even after other JPEG segments", () => {
    expect(pictureSize(jpeg([0xff, 0xe0, 0, 4, 1, 2], [0xff, 0xc4, 0, 3, 9], frame))).toEqual({
      width: 1_037,
      height: 2_243,
    })
    const png = new Uint8Array(24)
    png.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
    new DataView(png.buffer).setUint32(16, 300)
    new DataView(png.buffer).setUint32(20, 80)
    // fill bytes before a marker are skipped; with two frames it is unclear which one a decoder uses
    const large = [0xff, 0xc0, 0, 17, 8, 0x4e, 0x20, 0x4e, 0x20, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    const comment = [0xff, 0xfe, 0, 12, 0xff, 0xc0, 0, 17, 8, 0, 100, 0, 100, 3]
    expect(pictureSize(jpeg([0xff, ...comment], large))).toEqual({ width: 20_000, height: 20_000 })
    expect(pictureSize(jpeg([0xff, 0xff, ...large]))).toEqual({ width: 20_000, height: 20_000 })
    expect(pictureSize(jpeg(frame, large))).toBeNull()
    expect(pictureSize(png)).toEqual({ width: 300, height: 80 })
  })

  test.each([
    ["nothing", new Uint8Array()],
    ["a page", new TextEncoder().encode("<html><body>gone</body></html>")],
    ["a JPEG that ends", jpeg([0xff, 0xe0, 0xff, 0xff, 1])],
    ["segments without a length", jpeg(Array.from({ length: 40 }, (_, at) => (at % 4 === 0 ? 0xff : 0)))],
  ])("%s has no picture size", (_, bytes) => expect(pictureSize(bytes)).toBeNull())
})

test.each([
  [
    "https://is1-ssl.mzstatic.com/image/thumb/a/b/c.png/1290x2796bb.jpg",
    "https://is1-ssl.mzstatic.com/image/thumb/a/b/c.png/1080x2341bb.jpg",
  ],
  [
    "https://is1-ssl.mzstatic.com/image/thumb/a/392x696bb.png",
    "https://is1-ssl.mzstatic.com/image/thumb/a/1080x1918bb.jpg",
  ],
  [
    "https://is5-ssl.mzstatic.com/image/thumb/a/2796x1290bb.jpg",
    "https://is5-ssl.mzstatic.com/image/thumb/a/2341x1080bb.jpg",
  ],
  ["https://play-lh.googleusercontent.com/AbC-d_e", "https://play-lh.googleusercontent.com/AbC-d_e=w1080-h2160-rj"],
  [
    "https://play-lh.googleusercontent.com/AbC=w526-h296-rw",
    "https://play-lh.googleusercontent.com/AbC=w1080-h2160-rj",
  ],
  ["https://example.com/a/1290x2796bb.jpg", "https://example.com/a/1290x2796bb.jpg"],
])("the address %s is requested as %s", (address, expected) => expect(readableAddress(address)).toBe(expected))

test("a picture is read in its page's language if there is data for it, and in English", () => {
  expect(dataFor(["de-DE", "fr-FR"], new Set(["eng", "deu", "fra"]))).toEqual(["deu", "eng"])
  expect(dataFor(["ja"], new Set(["eng"]))).toEqual(["eng"])
  expect(dataFor(["en-GB"], new Set(["eng"]))).toEqual(["eng"])
  expect(dataNameOf("zh-Hant")).toBe("chi_tra")
  expect(LISTING_LOCALES.filter((locale) => dataNameOf(locale) === undefined)).toEqual([])
})
