import type { MarketApp, Reading } from "./market-rows.ts"

/** The parameters of a call. */
export interface Question {
  genre?: string[]
  country?: string[]
  kind?: "free" | "paid" | "grossing" | "ipad"
  released?: number
  rankMin?: number
  rankMax?: number
  revenueMin?: number
  revenueMax?: number
  downloadsMin?: number
  downloadsMax?: number
  growthMin?: number
  growthMax?: number
  text?: string
  publisher?: string
  estimates?: boolean
  limit?: number
  page?: number
}

/** Figures of an app: a value, only an upper bound, or nothing. */
export interface PlainFigures {
  downloads: { value: number } | { under: number } | null
  revenue: { value: number } | { under: number } | null
  growth: { value: number } | null
}

interface Place {
  app: MarketApp
  rank: number
  list: Reading
  first: string | null
}

/** Computes the finder's expected answer from the readings with plain lists and loops, without code of the product. */
export function answerTo(
  readings: readonly Reading[],
  question: Question,
  today: string,
  figures: ReadonlyMap<string, PlainFigures> = new Map(),
) {
  const { country = ["us"], limit = 50, page = 1 } = question
  const places = placesNow(readings).filter(({ list, app }) => {
    if (!country.includes(list.country)) return false
    if (question.genre && !question.genre.includes(list.genre)) return false
    if (question.kind === "ipad" && (list.device !== "ipad" || list.kind !== "free")) return false
    if (question.kind && question.kind !== "ipad" && (list.device !== "iphone" || list.kind !== question.kind))
      return false
    if (question.publisher && app.developerId !== question.publisher) return false
    const texts = [app.name, app.developer].map((text) => text.toLowerCase())
    return (
      !question.text ||
      question.text
        .toLowerCase()
        .split(" ")
        .every((word) => texts.some((text) => text.includes(word)))
    )
  })
  const from = question.released && backBy(today, question.released)
  const fitOf = (app: MarketApp) => figuresFit(question, figures.get(app.id))
  const [all, unsure] = ["yes", "perhaps"].map((fit) => places.filter(({ app }) => fitOf(app) === fit)) as [
    Place[],
    Place[],
  ]
  const isSince = ({ first }: Place) => !from || (first !== null && first >= from)
  const isWithin = ({ rank }: Place) => rank >= (question.rankMin ?? 1) && rank <= (question.rankMax ?? 1_000)
  const bestOf = (some: readonly Place[]) =>
    [...Map.groupBy(some, ({ app }) => app.id).values()]
      .map((appPlaces) => appPlaces.sort(byPlace)[0]!)
      .filter(isWithin)
  const matching = all.filter(isSince)
  const ids = new Set(matching.map(({ app }) => app.id))
  const best = bestOf(matching)
  best.sort((a, b) => a.rank - b.rank || Number(a.app.id) - Number(b.app.id))
  const pageRows = best.slice((page - 1) * limit, page * limit)
  return {
    total: best.length,
    noEstimate: bestOf(unsure.filter(isSince)).length,
    firstSeenUnknown: bestOf(all.filter(({ first, app }) => from && first === null && !ids.has(app.id))).length,
    apps: pageRows.map(({ app, rank, list, first }) =>
      [app.id, app.name, rank, list.country, list.device, list.kind, list.genre, list.day, first].join(" "),
    ),
  }
}

/** "perhaps": the known figures neither match nor rule out a match. */
function figuresFit(question: Question, of: PlainFigures | undefined): "yes" | "no" | "perhaps" {
  let fit: "yes" | "perhaps" = "yes"
  for (const name of ["downloads", "revenue", "growth"] as const) {
    const [least, most] = [question[`${name}Min`] ?? -1e18, question[`${name}Max`] ?? 1e18]
    if (least === -1e18 && most === 1e18) continue
    const figure = of?.[name]
    // the possible range of the true value
    const [low, high] = !figure
      ? [-1e17, 1e17]
      : "value" in figure
        ? [figure.value, figure.value]
        : [0, figure.under - 0.5]
    if (high < least || low > most) return "no"
    if (low < least || high > most) fit = "perhaps"
  }
  return fit
}

function byPlace(place: Place, otherPlace: Place): number {
  const keys = ({ rank, list }: Place) => [
    rank,
    list.genre === "36" ? 0 : 1,
    list.country,
    list.device === "iphone" ? 0 : 1,
    list.kind,
    list.genre,
  ]
  const [a, b] = [keys(place), keys(otherPlace)]
  const at = a.findIndex((key, i) => key !== b[i])
  return at < 0 ? 0 : a[at]! < b[at]! ? -1 : 1
}

let cached: { of: readonly Reading[]; places: Place[] } | undefined

function placesNow(readings: readonly Reading[]): Place[] {
  if (cached?.of === readings) return cached.places
  const keyOf = ({ country, device, kind, genre }: Reading) => `${country} ${device} ${kind} ${genre}`
  const byList = [...Map.groupBy(readings, keyOf).values()].map((sameList) =>
    sameList.toSorted((a, b) => (a.day < b.day ? -1 : 1)),
  )
  const firstDays = new Map<string, { day: string; isFirst: boolean }>()
  for (const sameList of byList)
    for (const { country, day, apps } of sameList)
      for (const { id } of apps) {
        const key = `${country} ${id}`
        const isFirst = day === sameList[0]!.day
        const previous = firstDays.get(key)
        if (!previous || day < previous.day) firstDays.set(key, { day, isFirst })
        else if (day === previous.day && isFirst) previous.isFirst = true
      }
  const places = byList.flatMap((sameList) => {
    const list = sameList.at(-1)!
    return list.apps.map((app, i): Place => {
      const { day, isFirst } = firstDays.get(`${list.country} ${app.id}`)!
      return { app, rank: i + 1, list, first: isFirst ? null : day }
    })
  })
  cached = { of: readings, places }
  return places
}

/** Returns the same day a number of calendar months earlier, or the last day of that month if it is shorter. */
function backBy(today: string, months: number): string {
  const [year, month, day] = today.split("-").map(Number) as [number, number, number]
  for (let date = day; ; date--) {
    const at = new Date(Date.UTC(year, month - 1 - months, date))
    const targetMonth = (((month - 1 - months) % 12) + 12) % 12
    if (at.getUTCMonth() === targetMonth) return at.toISOString().slice(0, 10)
  }
}
