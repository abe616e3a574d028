import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..", "src")
const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .sort()
  .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }))

/** Words in -ed and -ing that are nouns, and so may end a type's name. */
const NOUNS = words(`
  Feed Seed Speed Shed
  Booking Encoding Finding Heading Listing Meaning Opening Ranking Rating Reading Setting Spelling Standing String Timing
  Wording
`)

/** Participles that their ending does not give away, and words that say how, where or how much, but not what. */
const REFUSED_ENDS = words(`
  Begun Built Chosen Drawn Found Given Gone Held Hidden Kept Known Lost Made Meant Paid Read Said Seen Sent Set Shown Sought
  Spent Stood Taken Told Understood Won Written
  Above Ahead Behind Below Beside Inside Outside Where Which Who Whys Yet
  Absent Bold Common Current Exact Least Missing Monthly Most New Next Old Oldest Raw Recent Single Weekly
  As Few From In Late Long Much On With
  Ends Needs Waits
`)

/** Nouns that say nothing alone: a row, a key, the parts of what? */
const REFUSED_ALONE = words("Data Info Item Key Parts Row Thing")

/** What an asynchronous function that is handed the database begins with. */
const VERBS = words(`
  add analyze apply ask assert attempt audit begin bring bury charge check choose claim clear copy count create
  delete derive describe disable draft drop empty end enqueue ensure estimate extend fail fetch fill find finish
  fold follow forget give grade hand has hold identify import insert is issue judge keep learn list load lock log look
  make mark measure migrate note open pause pay place plan preview put queue read rebuild record recount recover
  refresh refund refuse release remove replace replay reseal reset resume revoke run save say scan seek set settle store
  sum sweep tag take tally tell test track try unfollow update upsert use vacuum visit wait warn was withdraw write
`)

/** What names nothing, in the name of a file, a function or a type. */
const EMPTY_WORDS =
  /(?:^|[a-z])(?:Utils?|Helpers?|Managers?|Misc|Stuff)(?![a-z])|\b(?:utils?|helpers?|managers?|misc|stuff)\b/

/** More of them says what the code says. */
const MOST_COMMENTS = 0.08

describe("language", () => {
  test("a type is a noun of the field: no participle, no adjective, nothing that stands for anything", () => {
    const wrong = sources.flatMap(({ file, text }) => {
      const names = [...text.matchAll(/^(?:export )?(?:abstract )?(interface|type|class) ([A-Z]\w*)(.*)/gm)]
      return names
        .filter(([, sort, name, rest]) => !isError(sort as string, rest as string) && !isNoun(name as string))
        .map(([, , name]) => `${file} ${name}`)
    })
    expect(wrong).toEqual([])
  })

  test("what awaits the database begins with a verb", () => {
    const wrong = sources.flatMap(({ file, text }) =>
      functionsWithSql(text)
        .filter((name) => !VERBS.has(firstWord(name)) || /Of$/.test(name))
        .map((name) => `${file} ${name}`),
    )
    expect(wrong).toEqual([])
  })

  test(`comments are at most ${MOST_COMMENTS * 100} of 100 lines, sources and formulas aside, which cite their facts`, () => {
    const house = sources
      .filter(({ file }) => !/^(?:sources|formulas)\//.test(file))
      .map(({ text }) => text.split("\n"))
    const comments = house.flat().filter((line) => /^\s*(?:\/\/|\/\*|\*)/.test(line))
    expect(comments.length / house.flat().length).toBeLessThan(MOST_COMMENTS)
  })

  test("nothing is named by a word that fits everything", () => {
    const wrong = sources.flatMap(({ file, text }) => {
      const names = [...text.matchAll(/(?:function|interface|type|class|const) \*?(\w+)/g)].map(
        ([, name]) => name as string,
      )
      return [file.replace(".ts", ""), ...names]
        .filter((name) => EMPTY_WORDS.test(name))
        .map((name) => `${file} ${name}`)
    })
    expect(wrong).toEqual([])
  })
})

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter(Boolean))
}

/** An error is named by what happened: LeaseLost, CallerGone. */
function isError(sort: string, rest: string): boolean {
  return sort === "class" && /extends \w*(?:Error|Problem|Stopped)\b/.test(rest)
}

function isNoun(name: string): boolean {
  const parts = name.match(/[A-Z][a-z0-9]*/g) ?? []
  const last = parts.at(-1) as string
  if (REFUSED_ENDS.has(last) || REFUSED_ALONE.has(name)) return false
  return NOUNS.has(last) || !/(?:ed|ing)$/.test(last)
}

function firstWord(name: string): string {
  return (/^[a-z]+/.exec(name) as RegExpExecArray)[0]
}

/** Asynchronous functions of the top level that are given a connection or a transaction. */
function functionsWithSql(text: string): string[] {
  return [...text.matchAll(/^(?:export )?async function\*? (\w+)(?:<.*>)?\(([\s\S]*?)\)(?:: .*)? \{$/gm)]
    .filter(([, , parameters]) => /\b(?:sql|tx)\b/.test(parameters as string))
    .map(([, name]) => name as string)
}
