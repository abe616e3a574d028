import { rebuildCharts } from "../../charts/store/rebuild-charts.ts"
import { rebuildAccounts } from "../../consoles/store/derived/rebuild.ts"
import { rebuildNow } from "../../keywords/store/now.ts"
import { rebuildReviews } from "../../reviews/store/rebuild-reviews.ts"
import { rebuildAppTexts } from "../../stores/store/app-texts.ts"
import { rebuildRatings } from "../../stores/store/rebuild-ratings.ts"
import type { Invocation } from "../cli/command.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"
import type { DoctorDatabase } from "./reached.ts"

/** With --rebuild: derives anew what stands now of every keyword, of charts, of reviews, of ratings and of reports and by what apps are found, and mends what is not as the readings say. */
export async function rebuildDerived({ has }: Pick<Invocation, "has">, reached: DoctorDatabase): Promise<Finding[]> {
  if (!has("rebuild")) return []
  // what hinders the opening stands under "database"
  const database = await reached.database().catch(() => null)
  if (!database) return []
  try {
    const { ranks, figures } = await rebuildNow(database.sql, letOthers)
    const reviews = await rebuildReviews(database.sql, letOthers)
    const texts = await rebuildAppTexts(database.sql, letOthers)
    const charts = await rebuildCharts(database.sql, letOthers)
    const reports = await rebuildAccounts(database.sql, letOthers)
    const ratings = await rebuildRatings(database.sql, letOthers)
    if (ranks + figures + reviews + texts + charts + reports + ratings === 0)
      return [ok("derived", "current values match the readings")]
    const says = `corrected values that differed from the readings: results of ${ranks} keywords, figures of ${figures} keywords, ${reviews} review days or feeds, ${charts} chart places or first days, ${reports} report days or product prices of accounts, search names of ${texts} apps, ${ratings} duplicate rating counts`
    return [warning("derived", says, "run appmeter doctor --rebuild again; if it corrects values again, report a bug")]
  } catch (error) {
    return [
      problem("derived", `not rebuilt: ${(error as Error).message}`, "run appmeter migrate, then this command again"),
    ]
  }
}

/** Between two pieces, as the embedded database has one backend for all. */
async function letOthers(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20))
}
