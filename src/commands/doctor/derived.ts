import { rebuildCharts } from "../../charts/store/rebuild-charts.ts"
import { rebuildAccounts } from "../../consoles/store/derived/rebuild.ts"
import { rebuildNow } from "../../keywords/store/now.ts"
import { KINDS } from "../../kinds.ts"
import { rebuildReviews } from "../../reviews/store/rebuild-reviews.ts"
import { rebuildAppTexts } from "../../stores/store/app-texts.ts"
import { rebuildRatings } from "../../stores/store/rebuild-ratings.ts"
import type { Invocation } from "../cli/command.ts"
import type { DoctorDatabase } from "./doctor-database.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"

/**
 * If --rebuild was given, derives the current values of keywords, charts, reviews, ratings, reports and app names from
 * the readings again and corrects differences.
 */
export async function rebuildDerived({ has }: Pick<Invocation, "has">, reached: DoctorDatabase): Promise<Finding[]> {
  if (!has("rebuild")) return []
  // the finding "database" reports why the database cannot be opened
  const database = await reached.database().catch(() => null)
  if (!database) return []
  try {
    const { ranks, figures } = await rebuildNow(database.sql, yieldToOthers)
    const reviews = await rebuildReviews(database.sql, yieldToOthers)
    const texts = await rebuildAppTexts(database.sql, yieldToOthers)
    const charts = await rebuildCharts(database.sql, yieldToOthers)
    const reports = await rebuildAccounts(database.sql, KINDS, yieldToOthers)
    const ratings = await rebuildRatings(database.sql, yieldToOthers)
    if (ranks + figures + reviews + texts + charts + reports + ratings === 0)
      return [ok("derived", "current values match the readings")]
    const counts = [
      `results of ${ranks} keywords`,
      `figures of ${figures} keywords`,
      `${reviews} review days or feeds`,
      `${charts} chart places or first days`,
      `${reports} report days or product prices of accounts`,
      `search names of ${texts} apps`,
      `${ratings} duplicate rating counts`,
    ]
    const says = `corrected values that differed from the readings: ${counts.join(", ")}`
    return [warning("derived", says, "run appmeter doctor --rebuild again; if it corrects values again, report a bug")]
  } catch (error) {
    return [
      problem("derived", `not rebuilt: ${(error as Error).message}`, "run appmeter migrate, then this command again"),
    ]
  }
}

/** Pauses between pieces so that others get a turn: the embedded database runs one statement at a time. */
async function yieldToOthers(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20))
}
