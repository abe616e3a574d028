import { storefrontName } from "../../lib/storefront-names.ts"
import type { Letter, LetterItem, LetterSection } from "../../ui/mail/letter.ts"
import { counted, money, sideName } from "../../ui/words.ts"
import { NO_PROOF, REVIEW_PARTS, UNMEASURED } from "./parts.ts"
import type { Period, Schedule } from "./period.ts"
import type { Digest, DigestReview } from "./read-digest.ts"

const MAX_MOVES = 10
const MAX_CHANGES = 8
const MAX_REVIEWS = 6
const MAX_TASKS = 3

interface DigestFrame extends Pick<Schedule, "every">, Pick<Period, "from" | "to"> {
  workspace: string
  publicUrl: string
  unsubscribeUrl: string | null
}

/** Returns the subject and the contents of a digest. */
export function digestLetter(digest: Digest, frame: DigestFrame): Letter & { subject: string } {
  const { workspace, publicUrl, unsubscribeUrl, every } = frame
  const span = every === "day" ? frame.to : `${frame.from} to ${frame.to}`
  const title = every === "day" ? `Your day, ${span}` : `Your week, ${span}`
  return {
    subject: `${workspace}: ${every === "day" ? "day" : "week"} ${span}${headline(digest)}`,
    title,
    about: `${workspace}. Days are UTC days. ${UNMEASURED}`,
    sections: [
      appsSection(digest),
      movesSection(digest, every),
      changesSection(digest),
      reviewsSection(digest),
      moneySection(digest),
      tasksSection(digest),
    ].filter((section) => section !== null),
    footer:
      `You get this ${every === "day" ? "each day" : "each week"} because you asked for it in your settings of the ` +
      `workspace ${workspace}.`,
    unsubscribeUrl,
    page: { label: "Open your apps", url: `${publicUrl}/app` },
  }
}

function headline({ moves, reviews }: Digest): string {
  const going = (direction: string) => moves.filter((move) => move.direction === direction).length
  const parts = [
    going("up") > 0 && `${going("up")} rose`,
    going("down") > 0 && `${going("down")} fell`,
    reviews.length > 0 && counted(reviews.length, "review"),
  ].filter((part) => part !== false)
  return parts.length > 0 ? `: ${parts.join(", ")}` : ""
}

const figure = (count: number | null) => (count === null ? "–" : String(count))

function appsSection({ apps, appsLeft }: Digest): LetterSection | null {
  if (apps.length === 0) return null
  return {
    title: "Your apps",
    parts: [
      {
        kind: "table",
        columns: ["App", "Rose", "Fell", "Reviews"],
        rows: apps.map(({ name, up, down, reviews }) => [name, figure(up), figure(down), figure(reviews)]),
      },
      ...(appsLeft > 0 ? [quiet(`And ${counted(appsLeft, "more app")} on the page.`)] : []),
    ],
  }
}

/** The feed compares days, so that a keyword can fall through a week without a single alert. */
const NO_MOVES = "No keyword moved by three places or more from one measured day to the next."

function movesSection({ moves }: Digest, every: Schedule["every"]): LetterSection {
  const { title } = REVIEW_PARTS.moves
  if (moves.length === 0)
    return { title, parts: [quiet(every === "day" ? NO_MOVES : `${NO_MOVES} Slow movements are counted above.`)] }
  const items = moves.slice(0, MAX_MOVES).map(({ line, apps, direction, lead }): LetterItem => {
    return { text: line, more: [apps.join(", "), lead.day].filter(Boolean).join(" · "), direction }
  })
  return { title, parts: [{ kind: "list", items, left: moves.length - items.length }] }
}

function changesSection({ changes }: Digest): LetterSection | null {
  if (changes.length === 0) return null
  const items = changes.slice(0, MAX_CHANGES).map(({ text, day }) => ({ text, more: day }))
  return {
    title: REVIEW_PARTS.causes.title,
    parts: [{ kind: "list", items, left: changes.length - items.length }, quiet(NO_PROOF)],
  }
}

/** Lists the worst reviews first, because they need a reply. */
function reviewsSection({ reviews }: Digest): LetterSection | null {
  if (reviews.length === 0) return null
  const quotes = reviews.slice(0, MAX_REVIEWS).map((review) => ({
    kind: "quote" as const,
    text: [review.title, review.text].filter(Boolean).join(": ") || "(stars without text)",
    by: bylineOf(review),
  }))
  const left = reviews.length - quotes.length
  const summary = STARS.map((stars) => [stars, reviews.filter(({ rating }) => rating === stars).length] as const)
    .filter(([, count]) => count > 0)
    .map(([stars, count]) => `${count} × ${stars}★`)
  return {
    title: REVIEW_PARTS.reviews.title,
    parts: [
      { kind: "text", text: summary.join(", ") },
      ...quotes,
      ...(left > 0 ? [quiet(`And ${counted(left, "more review")} on the page.`)] : []),
    ],
  }
}

const STARS = [5, 4, 3, 2, 1]

function bylineOf({ rating, app, country, platform, date, version }: DigestReview): string {
  const where = platform === "ios" ? sideName({ country, platform }) : `${storefrontName(country)} · Google Play`
  const stars = "★".repeat(rating) + "☆".repeat(5 - rating)
  return [stars, app, where, version && `version ${version}`, date.slice(0, 10)].filter(Boolean).join(" · ")
}

function moneySection({ money: shown }: Digest): LetterSection | null {
  if (shown === null || shown.rows.length === 0) return null
  const rows = shown.rows.map(({ app, amounts }) => [
    app,
    amounts.length === 0 ? "–" : amounts.map(({ amount, currency }) => money(amount, currency)).join(", "),
  ])
  return {
    title: REVIEW_PARTS.money.title,
    parts: [{ kind: "table", columns: ["App", "Proceeds"], rows }, quiet(`${shown.about} Nothing is converted.`)],
  }
}

function tasksSection({ tasks }: Digest): LetterSection | null {
  if (tasks.length === 0) return null
  const items = tasks.slice(0, MAX_TASKS).map(({ app, sentence, reasons }) => ({
    text: `${app}: ${sentence}`,
    ...(reasons[0] !== undefined && { more: reasons[0] }),
  }))
  return { title: REVIEW_PARTS.tasks.title, parts: [{ kind: "list", items, left: tasks.length - items.length }] }
}

function quiet(text: string) {
  return { kind: "text" as const, text, isQuiet: true }
}
