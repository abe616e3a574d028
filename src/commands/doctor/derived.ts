import { rebuildCharts } from "../../charts/store/rebuild-charts.ts"
import { rebuildAccounts } from "../../consoles/store/derived/rebuild.ts"
import { rebuildNow } from "../../keywords/store/now.ts"
import { rebuildAppTexts } from "../../listings/store/app-texts.ts"
import { rebuildReviews } from "../../reviews/store/rebuild-reviews.ts"
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
      return [ok("derived", "what stands now is what the readings say")]
    const says = `mended: of ${ranks} keywords the latest results, of ${figures} the latest figures, ${reviews} days or feeds of reviews, ${charts} places or first days of charts, ${reports} days of accounts' reports or prices of products, the names by which ${texts} apps are found, and ${ratings} rating counts that stood twice were not what the readings say`
    return [warning("derived", says, "run again: appmeter doctor --rebuild; if it mends once more, report it")]
  } catch (error) {
    return [problem("derived", `not rebuilt: ${(error as Error).message}`, "run: appmeter migrate, then this again")]
  }
}

/** Between two pieces, as the embedded database has one backend for all. */
async function letOthers(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20))
}
