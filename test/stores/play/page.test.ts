import { describe, expect, test } from "bun:test"
import type { StoreApp } from "../../../src/core/observation/line-parts.ts"
import { playDetails } from "../../../src/stores/play/details.ts"
import { marketOf } from "../../../src/stores/play/market.ts"
import { plainText } from "../../../src/stores/play/page.ts"
import { fixture } from "../parsing/parsed.ts"
import { about, blockData, withData } from "../parsing/play-pages.ts"

const TRANSLATE = "com.google.android.apps.translate"
const MINECRAFT = "com.mojang.minecraftpe"
const translate = fixture("play-details-translate.html")
const minecraft = fixture("play-details-minecraft.html")

describe("listing of the recorded pages", () => {
  test("a listing has the short description as subtitle, texts without tags, and every picture", () => {
    const { description, screenshots, similar, moreByDeveloper, ...rest } = app(minecraft, MINECRAFT).listing!
    expect(rest).toEqual({
      language: "en",
      subtitle: "Millions of crafters have smashed billions of blocks! Now you can join the fun!",
      ageRating: "Everyone 10+",
      category: "Arcade",
      versions: [
        {
          version: "1.26.32.2",
          releasedAt: new Date("2026-06-24T22:04:44Z"),
          notes: "What's new in 26.32: Various bug fixes!",
        },
      ],
    })
    expect(description!.split("\n").at(-1)).toBe("*Realms & Realms Plus: Try a free 30-day trial in-app.")
    expect(description).not.toMatch(/<br|&amp;|&#39;/)
    expect(Object.keys(screenshots!)).toEqual(["phone"])
    expect([screenshots!.phone!.length, new Set(screenshots!.phone).size]).toEqual([8, 8])
    expect(app(translate, TRANSLATE).listing!.screenshots!.phone).toHaveLength(18)
  })

  test("a listing has no version if the version varies by device, even if the page has release notes", () => {
    expect(app(translate, TRANSLATE).listing).not.toHaveProperty("versions")
  })

  test("a listing has the similar apps and the developer's other apps in page order", () => {
    const { similar, moreByDeveloper } = app(minecraft, MINECRAFT).listing!
    expect(similar!.map(({ id }) => id)).toEqual([
      "com.sandboxol.blockymods",
      "com.craftgames.plntcrft.premium",
      "com.sandboxol.indiegame.bedwar",
      "com.fsilva.marcelo.lostminer",
      "com.sandboxol.indiegame.skyblock",
      "com.and.games505.TerrariaPaid",
    ])
    expect(moreByDeveloper).toEqual([
      {
        id: "com.mojang.minecraftedu",
        name: "Minecraft Education",
        icon:
          "https://play-lh.googleusercontent.com/" +
          "JbaRbEMRaS8-9MT-jS7P_iiqgJZq1OVh6VM-OEaMuHj6em7JV3ZvuBHoFhg6z8lHCIG81d66boVJl7LUTQZJ",
        developer: "Mojang",
        rating: 4.1248956,
      },
      expect.objectContaining({ id: "com.mojang.minecraftedu_preview", rating: 3.84 }),
    ])
    expect(app(translate, TRANSLATE).listing!.similar).toHaveLength(6)
    expect(app(translate, TRANSLATE).listing!.moreByDeveloper).toHaveLength(6)
  })
})

describe("rows of other apps", () => {
  const shelves = blockData(minecraft, "ds:8") as unknown[][][][]
  const with8 = (data: unknown) => app(withData(minecraft, "ds:8", data), MINECRAFT).listing!

  test("a missing row of other apps is left out, and an empty row gives an empty list", () => {
    const bare = minecraft.replaceAll("ag2B9c", "unknown")
    for (const page of [bare, withData(minecraft, "ds:8", [null, [null, null]])]) {
      expect(app(page, MINECRAFT).listing).not.toHaveProperty("similar")
      expect(app(page, MINECRAFT).listing).not.toHaveProperty("moreByDeveloper")
      expect(app(page, MINECRAFT).market).toEqual(app(minecraft, MINECRAFT).market!)
    }
    const data = structuredClone(shelves)
    ;(data[1]![1]![1]![21] as unknown[])[0] = []
    expect(with8(data)).toMatchObject({ similar: [], moreByDeveloper: [{}, {}] })
  })

  test("rows of other apps are recognised by their content, not by their position", () => {
    const data = structuredClone(shelves)
    data[1]![1]!.reverse()
    expect(with8(data)).toEqual(app(minecraft, MINECRAFT).listing!)
  })

  test("a sponsored app is left out of the similar apps, and an app without an id fails as changed", () => {
    const paid = structuredClone(shelves)
    const rows = ((paid[1]![1]![1]![21] as unknown[])[0] as unknown[][])!
    rows[0]![20] = ["Sponsored"]
    expect(with8(paid).similar!.map(({ id }) => id)[0]).toBe("com.craftgames.plntcrft.premium")
    rows[1]![0] = ["another.id", 7]
    expect(() => with8(paid)).toThrow("a result has no id")
  })
})

describe("in-app prices", () => {
  const of = (words: unknown, offered: unknown = "USD") => {
    const listing = Array(30).fill(null)
    listing[19] = [words]
    return marketOf(listing, offered)
  }

  test("in-app prices are parsed as a range or as a single price in any money format", () => {
    const cases: [string, number, number][] = [
      ["$0.99 - $49.99 per item", 0.99, 49.99],
      ["$4.99 per item", 4.99, 4.99],
      ["¥120 - ¥12,000 per item", 120, 12_000],
      ["Rp 16,000.00 - Rp 1,599,000.00 per item", 16_000, 1_599_000],
      ["USD 1.99 \u2013 USD 399.99 per item", 1.99, 399.99],
      ["0.59 € - 119.99 € per item", 0.59, 119.99],
    ]
    for (const [words, inAppLeast, inAppMost] of cases)
      expect(of(words)).toEqual({ hasInAppPurchases: true, inAppLeast, inAppMost, inAppCurrency: "USD" })
  })

  test("in-app prices have no currency if the app has no price", () => {
    expect(of("$0.99 per item", null)).toEqual({ hasInAppPurchases: true, inAppLeast: 0.99, inAppMost: 0.99 })
  })

  test("an unknown format of in-app prices fails as changed", () => {
    for (const words of ["per item", "$1 - $2", "$1 - $2 - $3 per item", "1.5.2 per item", "$1,00 per item", 7])
      expect(() => of(words)).toThrow("a fact is missing or of another type")
  })

  test("a page without in-app prices shows no in-app purchases, and missing installs are unknown", () => {
    expect(of(null)).toEqual({ hasInAppPurchases: false })
  })
})

test("HTML tags are removed, character references are decoded, and unknown references stay", () => {
  const cases: [string, string | undefined][] = [
    ["a<br>b<BR/>c", "a\nb\nc"],
    ['<b>Bold</b> &amp; <font color="#f00">red</font>', "Bold & red"],
    ["1 &lt; 2 &#38; 3 &#x3E; 2&nbsp;!", "1 < 2 & 3 > 2\u00a0!"],
    ["&lt;b&gt;not bold&lt;/b&gt;", "<b>not bold</b>"],
    ["&#0; &#xd800; &#1114112; &bogus;", "&#0; &#xd800; &#1114112; &bogus;"],
    ["I <3 tea, 2 > 1", "I <3 tea, 2 > 1"],
    ["<br><br>", undefined],
  ]
  for (const [html, plain] of cases) expect(plainText(html)).toBe(plain as string)
})

function app(page: string, id: string): StoreApp {
  return playDetails.parse(page, { storefront: "us", ids: [id] }, about).apps[0]!
}
