import type { Observation } from "../../kinds.ts"
import { inventedOn } from "./day.ts"
import { chanceOf, INVENTED_APP, INVENTED_KEYWORDS, INVENTED_RIVALS, numberOf } from "./world.ts"

/** Every 7 days each of two assistants answers 4 times per keyword. */
const ASKED_DAYS = 7
const RUNS = 4
const ASKED = [
  { source: "openai", model: "invented-model-a" },
  { source: "perplexity", model: "invented-model-b" },
] as const

export function answersOn(day: string): Observation[] {
  if (numberOf(day) % ASKED_DAYS !== 0) return []
  const { platform: _, ...from } = inventedOn(day, "answers")
  return ASKED.flatMap(({ source, model }) =>
    INVENTED_KEYWORDS.slice(0, 3).flatMap(({ term }) =>
      Array.from({ length: RUNS }, (_, run): Observation => {
        const text = textOf(`${source} ${term} ${run} ${day}`)
        const question = { term, language: "en", phrasing: "1a", run, searched: run % 2 === 0 }
        return { kind: "assistant_answer", source, model, ...from, ...question, text, cited: [] }
      }),
    ),
  )
}

/** Returns an answer that names three rivals or, in two of three cases, two rivals and the app. */
function textOf(seed: string): string {
  const rivals = INVENTED_RIVALS.toSorted((a, b) => chanceOf(seed + a.id) - chanceOf(seed + b.id)).slice(0, 3)
  const named = chanceOf(seed) < 0.66 ? [rivals[0]!, INVENTED_APP, rivals[1]!] : rivals
  return named
    .map(({ name }, place) => `${place + 1}. **${name}**: invented by the demo, as is this answer.`)
    .join("\n")
}
