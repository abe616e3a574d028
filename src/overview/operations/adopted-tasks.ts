import * as v from "valibot"
import type { Platform } from "../../core/observation/provenance.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { readRankSeries } from "../../keywords/read/series.ts"
import { dayOf } from "../../lib/days.ts"
import { described, named } from "../../lib/schema.ts"
import { Count, Day, Rank, Storefront, Time } from "../../tracking/shapes.ts"
import { gradeDaysOf, gradeKeyword } from "../formulas/plan-grades.ts"
import { type AdoptedTask, readAdoptedTasks } from "../read/adopted-tasks.ts"

export const AdoptedTaskShape = named(
  "AdoptedTask",
  v.strictObject({
    taskId: described(v.string(), "Id of the task."),
    country: Storefront,
    field: described(v.string(), "The field that the task changes."),
    proposed: described(v.string(), "The proposed text, which later appeared on the page."),
    toldAt: described(Time, "Time of the first proposal."),
    adoptedAt: described(Time, "Time of the first reading with the text."),
    from: described(Day, "First day whose ranks count, a week later."),
    to: described(Day, "Last day, four weeks later."),
    final: described(v.boolean(), "False until the last day is over."),
    keywords: described(
      v.array(
        v.strictObject({
          term: described(v.string(), "The keyword."),
          before: described(v.nullable(Rank), "Rank at the time of the proposal. Null if absent."),
          expectedRank: described(Rank, "Expected rank at the time of the proposal."),
          rank: described(
            v.nullable(Rank),
            "Median rank of the measured days. Null if absent on most, or none is measured.",
          ),
          days: described(Count, "Number of measured days."),
          verdict: described(
            v.picklist(["reached", "better", "not_better", "not_measured"]),
            "reached: at least the expected rank; better: better than before.",
          ),
        }),
      ),
      "Keywords that the task was expected to gain.",
    ),
  }),
  "Outcome of a task that was carried out. It does not prove that the text caused it.",
)

const MAX_TASKS = 10

/** Grades the tasks that were carried out, latest first. */
export async function gradeAdoptedTasks(
  sql: Sql,
  app: TrackedApp,
  { platform, storefronts, now }: { platform: Platform; storefronts: readonly string[]; now: Date },
): Promise<v.InferOutput<typeof AdoptedTaskShape>[]> {
  const tasks = await readAdoptedTasks(sql, app, { platform, storefronts }, MAX_TASKS)
  const graded: v.InferOutput<typeof AdoptedTaskShape>[] = []
  for (const task of tasks) {
    const terms = task.keywords.map(({ term }) => term)
    const days = gradeDaysOf(dayOf(task.adoptedAt))
    const series = await readRankSeries(sql, app, { platform, storefront: task.storefront, terms, ...days })
    graded.push(gradedTask(task, new Map(series.map(({ term, points }) => [term, points])), dayOf(now)))
  }
  return graded
}

type Ranks = ReadonlyMap<string, readonly { rank: number | null }[]>

function gradedTask(
  { storefront: country, toldAt, adoptedAt, keywords, ...task }: AdoptedTask,
  ranks: Ranks,
  today: string,
): v.InferOutput<typeof AdoptedTaskShape> {
  const days = gradeDaysOf(dayOf(adoptedAt))
  return {
    ...task,
    country,
    toldAt: toldAt.toISOString(),
    adoptedAt: adoptedAt.toISOString(),
    ...days,
    final: today > days.to,
    keywords: keywords.map(({ term, rank: before, expectedRank }) => {
      const measured = (ranks.get(term) ?? []).map(({ rank }) => rank)
      return { term, before, expectedRank, ...gradeKeyword({ before, expected: expectedRank }, measured) }
    }),
  }
}
