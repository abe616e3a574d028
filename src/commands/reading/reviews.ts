import type { AnswerOf } from "../../answers.ts"
import { type Command, type Terminal, WrongUse } from "../cli/command.ts"
import { CSV, csvOf, fitted, harmless, printable } from "../cli/show.ts"
import { type Ask, findApps, type ListedApp, useOperations, WORKSPACE } from "./ask.ts"

const SHOWN = 10

type ReviewList = AnswerOf<"list_reviews">
type ReviewRow = NonNullable<ReviewList["list"] | ReviewList["android"]>[number]

export const reviews: Command = {
  name: "reviews",
  summary: "Show an app's newest reviews from both stores.",
  examples: [
    ["reviews 'Tide Times'", `the newest ${SHOWN} of each store in the app's main storefront`],
    ["reviews 'Tide Times' --country de --limit 50", "another storefront"],
  ],
  positionals: ["app?"],
  options: {
    workspace: WORKSPACE,
    country: { value: "CODE", meaning: "The storefront. Default: the app's main storefront." },
    limit: { value: "NUMBER", meaning: `Maximum reviews of each store, 1 to 100. Default: ${SHOWN}.` },
    ...CSV,
  },
  async run(invocation) {
    const { terminal, text, positionals, has } = invocation
    const limit = invocation.amount("limit") ?? SHOWN
    if (limit < 1 || limit > 100) throw new WrongUse("--limit must be 1 to 100")
    const country = text("country")?.toLowerCase()
    const read = await useOperations(invocation, async (ask) => {
      const apps = await findApps(ask, positionals[0])
      const each: [ListedApp, ReviewList][] = []
      for (const app of apps) each.push([app, await readReviews(ask, app, country)])
      return each
    })
    if (has("csv"))
      terminal.out(
        csvOf(
          COLUMNS,
          read.flatMap(([app, answer]) => cellsOf(app, answer, limit)),
        ),
      )
    else if (has("json"))
      terminal.json({ apps: read.map(([{ id, name }, answer]) => ({ appId: id, name, ...answer })) })
    else for (const [app, answer] of read) terminal.out(lines(app, answer, limit, terminal).join("\n").concat("\n"))
    return 0
  },
}

const COLUMNS = ["appId", "app", "store", "country", "date", "rating", "version", "title", "text"]

function cellsOf({ id, name }: ListedApp, { country, list, android }: ReviewList, limit: number) {
  const stores = [["ios", list ?? []] as const, ["android", android ?? []] as const]
  return stores.flatMap(([store, storeReviews]) =>
    storeReviews.slice(0, limit).map(({ date, rating, version, title, text }) => {
      return [id, name, store, country, date, rating, version, title, text]
    }),
  )
}

async function readReviews(ask: Ask, app: ListedApp, country: string | undefined): Promise<ReviewList> {
  return await ask("list_reviews", { appId: app.id, ...(country && { country }) })
}

function lines(app: ListedApp, { country, list, android }: ReviewList, limit: number, terminal: Terminal): string[] {
  const stores = [
    ...(app.iosId ? [["App Store", list] as const] : []),
    ...(app.androidPkg ? [["Google Play", android] as const] : []),
  ]
  return stores.flatMap(([store, storeReviews]) => [
    `${terminal.bold(printable(app.name))}, ${store}, ${country}`,
    ...(storeReviews === null ? ["  not read yet, so it is unknown whether there are reviews"] : []),
    ...(storeReviews?.length === 0 ? ["  no reviews in this period"] : []),
    ...(storeReviews ?? []).slice(0, limit).flatMap((review) => reviewLines(review, terminal)),
    "",
  ])
}

function reviewLines({ rating, title, text, version, date }: ReviewRow, terminal: Terminal): string[] {
  const tone = rating >= 4 ? "good" : rating <= 2 ? "bad" : "faint"
  const stars = terminal.paint(tone, "★".repeat(rating).padEnd(5, "☆"))
  const head = [stars, date.slice(0, 10), version && printable(version), title && terminal.bold(printable(title))]
  const body = harmless(text.replaceAll(/\s+/g, " ")).trim()
  return [`  ${head.filter(Boolean).join("  ")}`, ...(body ? [`         ${body}`] : [])].map((line) =>
    fitted(line, terminal.columns()),
  )
}
