import * as v from "valibot"
import { type Context, ofApp, operation } from "../../core/operation.ts"
import { ownId } from "../../core/ranked-app.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import { json } from "../../database/json.ts"
import type { Sql } from "../../database/types.ts"
import { Country, Platform, wholeNumber } from "../../lib/fields.ts"
import { localesOf } from "../../lib/locales.ts"
import { coded, described, named } from "../../lib/schema.ts"
import { DAY_MS } from "../../lib/time.ts"
import { readSurroundings } from "../../listings/read/listing-surroundings.ts"
import { readLatestRatings } from "../../stores/read/rating-days.ts"
import { Count, Day, popularityFields, Rank, Store, Storefront, Time } from "../../tracking/shapes.ts"
import {
  findMissing,
  type KeywordOutlook,
  MANY_PEERS,
  MIN_PEERS,
  type PageKeywords,
  type PlanTask,
  planTasks,
} from "../formulas/plan-tasks.ts"
import { planKeywords, readPageTexts, YOUNG_DAYS } from "../read/plan-inputs.ts"
import { AdoptedTaskShape, gradeAdoptedTasks } from "./adopted-tasks.ts"

/** Days without a new task after a change of name or subtitle, until its effect shows. */
const SETTLES_DAYS = 14
const MAX_STOREFRONTS = 20
const STATES = ["tasks", "nothing_to_do", "settling", "not_measured"] as const

const Outlook = named(
  "TaskOutlook",
  v.strictObject({
    term: described(v.string(), "The keyword."),
    day: described(Day, "Day of the results."),
    rank: described(v.nullable(Rank), "Null if absent from the results read."),
    expectedRank: described(
      Rank,
      "Median rank of the apps whose name has the keyword's words and that have at most as many ratings as this app. " +
        "For an even number of apps, the worse middle rank.",
    ),
    weight: described(
      v.number(),
      "1 to 100, used in expectedValue: the popularity, or the score behind the band, which gives an order but no " +
        "level.",
    ),
    ...popularityFields,
    popularityAt: described(v.nullable(Time), "Time of the newest reading behind it, as in list_keyword_ranks."),
  }),
)

const Task = named(
  "WeeklyTask",
  v.strictObject({
    taskId: described(v.string(), "Stable as long as the same text is proposed. Add it to tasksDone to hide the task."),
    platform: Store,
    country: Storefront,
    field: described(v.picklist(["subtitle"]), "On Google Play, the short description."),
    sentence: described(v.string(), "The task in one English sentence."),
    current: described(v.string(), "Text on the page. Empty if there is none."),
    proposed: described(v.string(), "Replacement text within the store's limit."),
    added: described(v.array(v.string()), "Words that are only in proposed."),
    removed: described(v.array(v.string()), "Words that are only in current. Empty if none is removed."),
    reasons: described(v.array(v.string()), "Measurements in favour of the task, in English sentences."),
    tradeOff: described(v.string(), "What the task costs, in one English sentence."),
    confidence: described(
      v.picklist(["low", "medium"]),
      `low: ${MIN_PEERS} to ${MANY_PEERS - 1} apps show the expected rank; medium: ${MANY_PEERS} or more. Never ` +
        "high, because those apps have the words in their name, which counts for more.",
    ),
    expectedValue: described(
      v.number(),
      "Sum over the gained keywords of weight × (1 / expected rank − 1 / rank). An index for ordering tasks, not " +
        "a forecast of downloads.",
    ),
    gains: described(
      v.array(Outlook),
      "Tracked keywords that name and subtitle would newly cover, the main one first.",
    ),
  }),
)

export const getWeeklyPlan = operation({
  id: "get_weekly_plan",
  method: "GET",
  path: "/apps/:appId/weekly-plan",
  group: "Your apps",
  toolset: "page",
  summary: "Suggests changes to the store page for this week, based on measurements.",
  description:
    "Each task is independent and starts from the current text. Often there is none, by design: a task needs at " +
    `least ${MIN_PEERS} apps with at most as many ratings that show the value of the words, and there is none within ` +
    `${SETTLES_DAYS} days of a change of name or subtitle. Writes nothing to a store. Every task is stored and ` +
    "later compared with the outcome; see record.",
  effect: "reads",
  scope: "apps:read",
  plan: "pro",
  price: 1,
  faults: ["bad_goal"],
  input: ofApp({
    country: described(v.optional(Country), "Two-letter storefront code. Default: all storefronts of the app."),
    goal: v.optional(
      coded(
        v.pipe(
          v.picklist(["downloads", "rank", "revenue"]),
          v.description("Optimisation goal. Default: the app's own goal. Tasks are always ordered by expected value."),
        ),
        "bad_goal",
      ),
    ),
    platform: Platform,
    limit: v.optional(wholeNumber(1, 10, "Maximum number of tasks over all storefronts."), 5),
  }),
  output: v.strictObject({
    platform: Store,
    goal: described(
      v.nullable(v.picklist(["downloads", "rank", "revenue"])),
      "The requested goal, else the app's own. Null if neither is set.",
    ),
    tasks: described(v.array(Task), "Highest expected value first."),
    storefronts: described(
      v.array(
        v.strictObject({
          country: Storefront,
          state: described(
            v.picklist(STATES),
            "nothing_to_do: everything was measured, and no change is worthwhile; settling: name or subtitle " +
              `changed within ${SETTLES_DAYS} days; not_measured: page, ratings or keywords of the last ` +
              `${YOUNG_DAYS} days are missing.`,
          ),
          settledAt: described(v.nullable(Time), "settling: time from which there are tasks again."),
          pageReadAt: described(v.nullable(Time), "Time of the latest reading of the page. Null if never read."),
          keywords: described(Count, "Number of keywords considered: those with results and popularity read."),
        }),
      ),
      `Storefronts considered, at most the first ${MAX_STOREFRONTS}.`,
    ),
    record: described(
      v.array(AdoptedTaskShape),
      "Earlier tasks whose text later appeared on the page, with the ranks of their keywords since; latest first, " +
        "at most 10.",
    ),
    storefrontsLeftOut: described(Count, "Further storefronts of the app. Request each with country."),
  }),
}).run(async ({ app, country, goal, platform, limit }, ctx) => {
  const all = country === undefined ? app.countries : [country]
  const looked = all.slice(0, MAX_STOREFRONTS)
  const plans: StorefrontPlan[] = []
  for (const storefront of looked) plans.push(await planStorefront(app, { platform, storefront }, ctx, limit))
  const planned = plans
    .flatMap(({ tasks }) => tasks)
    .sort((a, b) => b.task.expectedValue - a.task.expectedValue || (a.task.taskId < b.task.taskId ? -1 : 1))
    .slice(0, limit)
  await storeTasks(ctx.sql, app.id, planned, goal ?? app.goal)
  const record = await gradeAdoptedTasks(ctx.sql, app, { platform, storefronts: looked, now: ctx.now() })
  return {
    platform,
    goal: goal ?? app.goal,
    tasks: planned.map((plannedTask) => taskRow(plannedTask)),
    storefronts: plans.map(({ state }) => state),
    record,
    storefrontsLeftOut: all.length - looked.length,
  }
})

interface PlannedTask {
  platform: "ios" | "android"
  storefront: string
  pageSeenAt: Date
  task: PlanTask
}

interface StorefrontPlan {
  state: {
    country: string
    state: (typeof STATES)[number]
    settledAt: string | null
    pageReadAt: string | null
    keywords: number
  }
  tasks: PlannedTask[]
}

async function planStorefront(
  app: TrackedApp,
  { platform, storefront }: { platform: "ios" | "android"; storefront: string },
  { sql, now }: Context,
  limit: number,
): Promise<StorefrontPlan> {
  const appId = ownId(app, { platform, storefront })
  const page = appId === null ? null : await readPageTexts(sql, appId, { platform, storefront })
  const state = { country: storefront, settledAt: null, pageReadAt: page?.seenAt.toISOString() ?? null, keywords: 0 }
  if (appId === null || !page) return { state: { ...state, state: "not_measured" }, tasks: [] }
  const settledAt = new Date((page.changedAt?.getTime() ?? Number.NEGATIVE_INFINITY) + SETTLES_DAYS * DAY_MS)
  if (settledAt > now())
    return { state: { ...state, state: "settling", settledAt: settledAt.toISOString() }, tasks: [] }
  const { ratings = null } = (await readLatestRatings(sql, appId, storefront)) ?? {}
  const keywords = await planKeywords(sql, app, { platform, storefront }, now())
  if (ratings === null || keywords.length === 0) return { state: { ...state, state: "not_measured" }, tasks: [] }
  const [locale] = localesOf(storefront)
  const { name, subtitle, seenAt: pageSeenAt } = page
  const inputs = { appId: app.id, platform, storefront, locale, name, subtitle, ratings, keywords }
  const tasks = await findTasks(sql, app, inputs, limit)
  return {
    state: { ...state, state: tasks.length > 0 ? "tasks" : "nothing_to_do", keywords: keywords.length },
    tasks: tasks.slice(0, limit).map((task) => ({ platform, storefront, pageSeenAt, task })),
  }
}

/** Returns the proposed tasks, without those that the workspace marked as done. */
async function findTasks(sql: Sql, app: TrackedApp, inputs: PageKeywords, limit: number): Promise<PlanTask[]> {
  const missing = findMissing(inputs)
  if (missing.length === 0) return []
  const { platform, storefront, keywords } = inputs
  const background = await readSurroundings(sql, app, { platform, storefront, day: keywords[0]!.day })
  const done = new Set(app.tasksDone)
  const tasks = planTasks({ ...inputs, appBackground: background }, missing, limit + done.size)
  return tasks.filter(({ taskId }) => !done.has(taskId))
}

function taskRow({ platform, storefront, task }: PlannedTask): v.InferOutput<typeof Task> {
  const { taskId, field, current, proposed, added, removed, gains, confidence, expectedValue, evidence } = task
  const [first, ...rest] = gains as [KeywordOutlook, ...KeywordOutlook[]]
  const words = added.map((word) => `"${word}"`).join(" and ")
  return {
    taskId,
    platform,
    country: storefront,
    field,
    sentence:
      `Put ${words} into the ${platform === "ios" ? "subtitle" : "short description"} in ${storefront}: ` +
      `"${proposed}".`,
    current,
    proposed,
    added,
    removed,
    reasons: [
      `"${first.term}" has ${popularityText(first)}, and the app ` +
        `${first.rank === null ? "is not among the results read" : `ranks ${first.rank}`}.`,
      `${evidence} apps with at most as many ratings have its words in their name; their median rank is ` +
        `${first.expectedRank}.`,
      ...(rest.length > 0 ? [`It also covers ${rest.map(({ term }) => `"${term}"`).join(", ")}.`] : []),
    ],
    tradeOff: tradeOffOf(removed),
    confidence,
    expectedValue,
    gains,
  }
}

function popularityText({ popularity, popularityLow: low, popularityHigh: high }: KeywordOutlook): string {
  if (popularity !== null) return `popularity ${Math.round(popularity)}`
  return low === null ? "no known popularity" : `a popularity between ${low} and ${high} by our estimate`
}

function tradeOffOf(removed: readonly string[]): string {
  if (removed.length === 0) return "Uses free space; no word is removed."
  return `Removes ${removed.map((word) => `"${word}"`).join(" and ")}, which no tracked keyword contains.`
}

/**
 * Stores the proposed tasks with their expected ranks, because they are graded weeks later (adopted-tasks.ts). An
 * answer shows the grade only if the page shows the text later.
 */
async function storeTasks(
  sql: Sql,
  appId: string,
  planned: readonly PlannedTask[],
  goal: string | null,
): Promise<void> {
  if (planned.length === 0) return
  const rows = planned.map(({ platform, storefront, pageSeenAt, task }) => ({
    task_id: task.taskId,
    platform,
    storefront,
    field: task.field,
    current_text: task.current,
    proposed_text: task.proposed,
    page_seen_at: pageSeenAt.toISOString(),
    keywords: task.gains,
    expected_value: task.expectedValue,
  }))
  await sql`
    insert into plan_task (
      app_id, task_id, platform, storefront, field, current_text, proposed_text, page_seen_at, keywords, expected_value,
      goal
    )
    select ${appId}, task_id, platform, storefront, field, current_text, proposed_text, page_seen_at, keywords,
      expected_value, ${goal}
    from jsonb_to_recordset(${json(sql, rows)}) r (
      task_id text, platform text, storefront text, field text, current_text text, proposed_text text,
      page_seen_at timestamptz, keywords jsonb, expected_value real
    )
    order by task_id
    on conflict (app_id, task_id) do update
    set current_text = excluded.current_text, page_seen_at = excluded.page_seen_at, keywords = excluded.keywords,
      expected_value = excluded.expected_value, goal = excluded.goal, last_told_at = now()`
}
