import type { AnswerOf } from "../../answers.ts"
import type { ChartMark } from "../charts/chart.ts"
import type { View } from "./bar.ts"
import { type AppHead, attempted, isFault, type PageContext } from "./context.ts"

type Mark = AnswerOf<"list_chart_marks">["marks"][number]

/**
 * Returns the marks for the app's charts: its own releases, listing changes and featuring within the days of the view.
 */
export async function readMarks(
  context: PageContext,
  { id: appId }: AppHead,
  { side, days }: Pick<View, "side" | "days">,
): Promise<ChartMark[]> {
  const answer = await attempted(context.ask("list_chart_marks", { appId, ...side, ...days }))
  if (isFault(answer)) return []
  return answer.marks.filter(({ day }) => days.from <= day && day <= days.to).map(markOf)
}

function markOf({ day, kind, title }: Mark): ChartMark {
  const [look, text] = WORDS[kind]
  return {
    day,
    kind: look,
    text: title === null ? text : `${text} ${kind === "version" || kind === "price" ? title : `“${title}”`}`,
  }
}

const WORDS: Record<Mark["kind"], [ChartMark["kind"], string]> = {
  version: ["release", "Version"],
  name: ["listing", "Name"],
  subtitle: ["listing", "Subtitle"],
  icon: ["listing", "Icon"],
  price: ["listing", "Price"],
  screenshots: ["listing", "Screenshots"],
  description: ["listing", "Description"],
  promotional_text: ["listing", "Promotional text"],
  event_started: ["listing", "Event begins"],
  event_ended: ["listing", "Event ends"],
  featured: ["featured", "By the editors"],
  unfeatured: ["featured", "No longer by the editors"],
}
