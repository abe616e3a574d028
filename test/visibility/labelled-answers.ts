import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { shortName, toAppNames } from "../../src/visibility/formulas/app-names.ts"
import { mentionsIn } from "../../src/visibility/formulas/mentions.ts"

interface LabelledAnswer {
  text: string
  named: Set<number>
}

const folder = join(import.meta.dirname, "labelled")

/**
 * Parses a file. It has "apps: A | B" and then answers, each after "--- B, A". A label is the beginning of an app's
 * name.
 */
function poolOf(file: string) {
  const [head = "", ...blocks] = readFileSync(join(folder, file), "utf8").split(/^---/m)
  const apps = head
    .replace("apps:", "")
    .split("|")
    .map((name) => name.trim())
  const answers = blocks.map((block): LabelledAnswer => {
    const [labels = "", ...lines] = block.split("\n")
    const named = labels.split(",").flatMap((label) => (label.trim() === "" ? [] : [placeOf(apps, label.trim())]))
    return { text: lines.join("\n").trim(), named: new Set(named) }
  })
  const ids: Record<string, string> = {
    Calm: "571800810",
    "Goodbudget: Budget & Finance": "com.dayspringtech.envelopes",
  }
  return {
    apps: apps.map((name) => ({ name: shortName(name), names: [name], ids: ids[name] ? [ids[name]!] : [] })),
    answers,
  }
}

function placeOf(apps: readonly string[], label: string): number {
  const exact = apps.indexOf(label)
  const place = exact >= 0 ? exact : apps.findIndex((name) => name.startsWith(label))
  if (place < 0) throw new Error(`${label} is none of the apps`)
  return place
}

const POOLS = readdirSync(folder).filter((name) => name.endsWith(".txt"))

export interface Matching {
  answers: number
  /** Number of apps that were found and labelled, found but not labelled, and labelled but not found. */
  right: number
  wrong: number
  missed: number
  uncertain: number
  off: string[]
}

/** Compares the mentions found in the labelled answers with their labels. */
export function matchLabelled(): Matching {
  const counts: Matching = { answers: 0, right: 0, wrong: 0, missed: 0, uncertain: 0, off: [] }
  for (const file of POOLS) {
    const { apps, answers } = poolOf(file)
    const appNames = toAppNames(
      apps,
      answers.map(({ text }) => text),
    )
    for (const { text, named } of answers) {
      const found = mentionsIn(text, [], appNames)
      counts.answers++
      counts.uncertain += found.uncertain.length
      for (const app of found.named) {
        if (named.has(app)) counts.right++
        else {
          counts.wrong++
          counts.off.push(`+ ${apps[app]!.name}: ${text.slice(0, 80)}`)
        }
      }
      for (const app of named) {
        if (found.named.includes(app)) continue
        counts.missed++
        counts.off.push(`- ${apps[app]!.name}: ${text.slice(0, 80)}`)
      }
    }
  }
  return counts
}
