import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { playReviews } from "../../../src/reviews/sources/play-reviews.ts"
import { fixture, PARSED } from "./parsed.ts"
import { about } from "./play-pages.ts"

const FIXTURES = join(import.meta.dirname, "../../../fixtures")
const files = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" }).filter((name) => /\.\w+$/.test(name))

test("no fixture contains the author of a review", () => {
  expect(files.length).toBeGreaterThan(20)
  for (const name of files) {
    const text = readFileSync(join(FIXTURES, name), "utf8")
    // App Store account links and Google profile pictures.
    expect([name, /\/reviews\/id[1-9]/.test(text)]).toEqual([name, false])
    expect([name, /googleusercontent\.com\/a[-/]/.test(text)]).toEqual([name, false])
  }
})

test("the review fixtures name no author: Apple's have one placeholder, and Google Play's are empty", () => {
  const feeds = PARSED.filter(({ fixture: name }) => name.startsWith("apple-reviews-"))
  for (const { fixture: name } of feeds) {
    const names = [...fixture(name).matchAll(/<name>(.*?)<\/name>|"name": \{"label": "(.*?)"\}/g)].map(
      ([, a, b]) => a ?? b,
    )
    expect([
      name,
      [...new Set(names)].filter((author) => author !== "iTunes Store" && author !== "A reviewer"),
    ]).toEqual([name, []])
  }
  for (const page of ["play-reviews-translate-1.txt", "play-reviews-translate-2.txt"]) {
    const [[, , payload]] = JSON.parse(fixture(page).slice(4))
    const rows: unknown[][] = JSON.parse(payload)[0]
    expect(rows).toHaveLength(150)
    for (const row of rows) expect([row[1], row[7], row[9]]).toEqual([null, null, null])
  }
  const [heading] = fixture("apple-reviews-3games-6countries-cut.csv").split("\n")
  expect(heading).not.toMatch(/author|user|name|link|uri/)
})

test("no parsed observation contains the author of a review", () => {
  const body = fixture("play-reviews-translate-1.txt")
  const [frame, ...rest] = JSON.parse(body.slice(4))
  const payload = JSON.parse(frame[2])
  payload[0].forEach((row: unknown[], place: number) => {
    row[1] = [`Writer ${place}`, [null, 2]]
    row[7] = ["A maker", `Hi Writer ${place}!`, [1783387213, 0]]
    row[9] = ["110479454368781213656", `Writer ${place}`]
  })
  const named = `)]}'\n\n${JSON.stringify([frame.with(2, JSON.stringify(payload)), ...rest])}`
  const playSubject = { storefront: "us", language: "en", storeId: "com.google.android.apps.translate" }
  const reading = playReviews.parse(named, playSubject, about)
  expect(reading).toEqual(playReviews.parse(body, playSubject, about))
  expect(JSON.stringify(reading)).not.toMatch(/Writer|1104794543/)
  for (const { source, subject, fixture: name } of PARSED) {
    if (!name.startsWith("apple-reviews-")) continue
    expect(
      JSON.stringify(source.parse(fixture(name), subject, { ...about, seenAt: new Date("2026-11-01") })),
    ).not.toMatch(/A reviewer|reviews\/id/)
  }
})
