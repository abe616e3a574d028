import { describe, expect, test } from "bun:test"
import { parseDay } from "../../../src/keywords/import/file-days.ts"
import { readRankHistory } from "../../../src/keywords/import/rank-history-file.ts"

const TODAY = "2026-01-31"
const read = (text: string, options = {}) => readRankHistory(text, { today: TODAY, ...options })
const RANK = { storefront: "us", term: "tea timer", day: "2025-01-31", rank: 7 }

describe("a file with a line for each rank", () => {
  test.each([
    ["commas and ISO dates", "date,keyword,country,rank\n2025-01-31,tea timer,us,7"],
    [
      "semicolons, quotes and a byte order mark",
      '\uFEFF"Date";"Keyword";"Country";"Rank"\r\n"31.01.2025";"Tea Timer";"US";"7"\r\n',
    ],
    ["tabs and names of countries", "Day\tSearch Term\tRegion\tPosition\nJan 31, 2025\ttea timer\tUnited States\t7"],
    [
      "a title above the headings",
      "Ranks of Tea\n\ndate,keyword,store,current_rank\n2025-01-31 06:00:00,tea timer,us,#7",
    ],
    ["further columns", "app,keyword,country_code,device,date,ranking,change\nTea,tea timer,us,iphone,20250131,7.0,-2"],
  ])("a rank file is read with %s", (_, text) => {
    expect(read(text)).toEqual({ ranks: [RANK], read: 1, unranked: 0, bad: [] })
  })

  test("a rank file without a storefront column gets its storefront from the option", () => {
    const text = "date,keyword,rank\n2025-01-31,tea timer,7"
    expect(read(text, { storefront: "us" }).ranks).toEqual([RANK])
    expect(() => read(text)).toThrow("name its storefront with --country")
  })

  test("a cell without a number, such as n/a or >250, is neither a rank nor an absence", () => {
    const cells = ["", "-", "–", "0", "n/a", ">250", "500+", "Not ranked", "null"]
    const lines = cells.map((cell, at) => `2025-01-${10 + at},tea timer,us,${cell}`)
    expect(read(["date,keyword,country,rank", ...lines].join("\n"))).toEqual({
      ranks: [],
      read: cells.length,
      unranked: cells.length,
      bad: [],
    })
  })

  test.each([
    ["2025-01-31,tea timer,xx,7", '"xx" is not a storefront; use its two-letter code, such as us'],
    ["2025-02-30,tea timer,us,7", '"2025-02-30" is not a date; write it as 2025-01-31'],
    ["2026-02-01,tea timer,us,7", "2026-02-01 is not between the first day of the App Store and today"],
    ["2025-01-31,,us,7", "it has no keyword"],
    ["2025-01-31,tea timer,us,seven", '"seven" is not a rank; write a whole number from 1, or leave it empty'],
    ["2025-01-31,tea timer,us,-3", '"-3" is not a rank; write a whole number from 1, or leave it empty'],
    ['2025-01-31,"tea timer,us,7', "its quotes are not closed properly"],
  ])("a rank file's invalid line %j is reported, and the other lines are read", (line, reason) => {
    const { ranks, bad } = read(`date,keyword,country,rank\n${line}\n2025-01-31,tea timer,us,7`)
    expect(bad).toEqual([{ line: 2, reason }])
    expect(ranks).toEqual([RANK])
  })

  test("the first of two ranks of one day is kept, and the second is reported if it differs", () => {
    const text =
      "date,keyword,country,rank\n2025-01-31,tea timer,us,7\n2025-01-31,tea timer,us,7\n2025-01-31,TEA timer,us,9"
    const { ranks, bad } = read(text)
    expect(ranks).toEqual([RANK])
    expect(bad).toEqual([{ line: 4, reason: 'an earlier line has rank 7 for "tea timer" on 2025-01-31' }])
  })
})

test("a file with a column for each day is read cell by cell", () => {
  const text = "Keyword,Country,2025-01-30,2025-01-31,Average\ntea timer,us,,7,7\nkettle,gb,12,>200,12"
  const { ranks, read: cells, unranked } = read(text)
  expect(ranks).toEqual([RANK, { storefront: "gb", term: "kettle", day: "2025-01-30", rank: 12 }])
  expect([cells, unranked]).toEqual([4, 2])
})

test("the order of day and month follows from the file's dates, or must be given", () => {
  const file = (...dates: string[]) =>
    ["date,keyword,country,rank", ...dates.map((date) => `${date},tea,us,7`)].join("\n")
  const daysOf = (text: string, options = {}) => read(text, options).ranks.map(({ day }) => day)
  expect(daysOf(file("01/02/2025", "31/01/2025"))).toEqual(["2025-02-01", "2025-01-31"])
  expect(daysOf(file("01/02/2025", "01/31/2025"))).toEqual(["2025-01-02", "2025-01-31"])
  expect(() => daysOf(file("01/02/2025"))).toThrow("give --dates dmy or --dates mdy")
  expect(daysOf(file("01/02/2025"), { dayOrder: "mdy" })).toEqual(["2025-01-02"])
})

test("a date that does not exist is refused in any format", () => {
  for (const date of ["2025-13-01", "31 Feb 2025", "Smarch 3, 2025", "2025-1-1", "", "yesterday", "29.02.2025"])
    expect([date, parseDay(date, "dmy")]).toEqual([date, null])
  expect(parseDay("29 Feb 2024", "dmy")).toBe("2024-02-29")
})

test("a rank file without the required columns is refused, and the error names them", () => {
  for (const text of ["", "a,b\n1,2", "keyword,country\ntea,us", "date,rank\n2025-01-31,7"])
    expect(() => read(text)).toThrow("date, keyword and rank, or keyword and a column for each day")
})
