import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { ReportProblem, readReport } from "../../../src/keywords/import/popularity-report.ts"

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "../../../fixtures/upstream", name), "utf8")
const REAL = fixture("apple-ads-search-terms-us-2025-09-cut.csv")
const HEAD = "month,country,genre,search_term,rank_in_genre,popularity_in_genre_1_100,popularity_overall_1_100"
const report = (...lines: string[]) => [HEAD, ...lines].join("\n")

/** Returns why a report cannot be read. */
function problem(text: string, storefront?: string): string {
  try {
    readReport(text, storefront)
  } catch (error) {
    if (error instanceof ReportProblem) return error.message
    throw error
  }
  return "none"
}

describe("Apple's report", () => {
  test("a real report gives each keyword with its figure, month and genre", () => {
    const { published, read, otherStorefronts, bad } = readReport(REAL)
    expect([published.length, read, otherStorefronts, bad]).toEqual([38, 38, 0, []])
    expect(published[0]).toEqual({
      storefront: "us",
      month: "2025-09-01",
      term: "indeed",
      popularity: 81,
      line: 2,
      genres: [{ genre: "Business", rank: 1, popularity: 100 }],
    })
    expect(published.map(({ term }) => term)).toEqual(
      expect.arrayContaining(["strava: run, ride, swim", "حضوري", "boss直聘"]),
    )
  })

  test("a report without figures and a text that is not a report are refused", () => {
    expect(problem(fixture("apple-ads-search-terms-gb-2025-09-cut5.csv"))).toBe(
      "the report has no popularity figures, so there is nothing to import",
    )
    expect(problem("name,place\na,b")).toContain("no line of headings")
    expect(problem("")).toContain("no line of headings")
    expect(problem("search_term,popularity_overall_1_100\ntea,5", "us")).toBe("the report has no month column")
  })

  test("a keyword that several genres list is read as one figure with all of these genres", () => {
    const { published, bad } = readReport(
      report("2025-09,us,Games,tea,3,90,61", "2025-09,us,Sports,mate,1,99,70", "2025-09,us,Sports,Tea ,9,80,61"),
    )
    expect(bad).toEqual([])
    expect(published.map(({ term, genres }) => [term, genres])).toEqual([
      [
        "tea",
        [
          { genre: "Games", rank: 3, popularity: 90 },
          { genre: "Sports", rank: 9, popularity: 80 },
        ],
      ],
      ["mate", [{ genre: "Sports", rank: 1, popularity: 99 }]],
    ])
  })

  test("headings are found in any order, case and spelling, below a preamble, and with semicolons", () => {
    const text = [
      "Data extract produced on 10/13/2025",
      "",
      "Month = 2025-09",
      "Search Term;Month;Search Popularity (1-5);SEARCH POPULARITY (1-100);Country or Region;Genre;Rank in " +
        "Genre;Search Popularity in Genre (1-100)",
      "tea;2025-09;3;61;Türkiye;Games;3;90",
    ]
    expect(readReport(text.join("\r\n")).published).toEqual([
      {
        storefront: "tr",
        month: "2025-09-01",
        term: "tea",
        popularity: 61,
        line: 5,
        genres: [{ genre: "Games", rank: 3, popularity: 90 }],
      },
    ])
  })

  test("a requested country selects its lines, and a report without a country column requires a country", () => {
    const two = report("2025-09,United States,Games,tea,3,90,61", "2025-09,Germany,Games,tee,3,90,44")
    const german = readReport(two, "de")
    expect([german.published.map(({ term }) => term), german.read, german.otherStorefronts]).toEqual([["tee"], 2, 1])
    const bare = "month,search_term,popularity_overall_1_100\n2025-09,tea,61"
    expect(problem(bare)).toContain("--country")
    expect(readReport(bare, "gb").published).toMatchObject([{ storefront: "gb", term: "tea", genres: [] }])
  })

  test("a bad line is listed with its reason and does not affect other lines", () => {
    const { published, bad } = readReport(
      report(
        "2025-09,us,Games,tea,3,90,61",
        "2025-09,Atlantis,Games,tea,3,90,61",
        "2025-13,us,Games,mate,3,90,61",
        "2025-09,us,Games,mate,3,90,",
        "2025-09,us,Games,mate,3,90,<5",
        "2025-09,us,Games, ,3,90,61",
        "2025-09,us,Games,mate,,90,61",
        "2025-09,us,Games,mate,3,x,61",
        "2025-09,us,Sports,tea,3,90,62",
        "2025-09,us,Games,tea,4,90,61",
        "2025-09,us",
        '2025-09,us,Games,"mate,3,90,61',
        "2025-09,us,Games,milk,3,90,61",
      ),
    )
    expect(published.map(({ term, line }) => [term, line])).toEqual([
      ["tea", 2],
      ["milk", 14],
    ])
    expect(bad.map(({ line, reason }) => [line, reason.split(":")[0] as string])).toEqual([
      [3, "country"],
      [4, "month"],
      [5, "popularity"],
      [6, "popularity"],
      [7, "search_term"],
      [8, "rank_in_genre"],
      [9, "popularity_in_genre"],
      [10, "popularity"],
      [11, "repeats an earlier line"],
      [12, "popularity"],
      [13, "its quotes are not closed properly"],
    ])
  })
})
