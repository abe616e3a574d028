// bun test/picture.ts — draws .github/ranks.svg, the picture of the README, as shared pages draw a rank: by the product's own
// chart, from the sandbox's history. A test compares it with the committed file.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rankChart } from "../src/links/share/rank-chart.ts"
import type { SharedPoint } from "../src/links/share/report.ts"
import { shortDay } from "../src/pages/times.ts"

export const PICTURE = ".github/ranks.svg"

const root = join(import.meta.dirname, "..")

/** Terms in which all three states occur. */
const TERMS = ["gratitude journal", "shadow work prompts", "reflection prompts"]

interface History {
  answer: {
    to: string
    keywords: { term: string; sources: { source: SharedPoint[2] }[]; series: [string, number | null][] }[]
  }
}

export function picture(): string {
  const file = readFileSync(join(root, "fixtures/sandbox/get_rank_history.json"), "utf8")
  const { keywords, to } = (JSON.parse(file) as History).answer
  const from = keywords.map(({ series }) => series[0]![0]).sort()[0]!
  const charts = TERMS.map((term, place) => {
    const { series, sources } = keywords.find((keyword) => keyword.term === term)!
    const points = series.map(([day, rank]) => [day, rank, sources[0]!.source] as SharedPoint)
    const chart = {
      id: `c${place}`,
      title: `Rank of “${term}”`,
      description: "Sample data of the sandbox.",
      from,
      to,
      points,
    }
    const { text } = rankChart({ ...chart, dayLabel: shortDay })
    const panel = text.replace("<svg ", `<svg x="12" y="34" width="340" height="156" `)
    return `<g transform="translate(${place * 380 + 8} 8)">
<rect class="card" width="364" height="204" rx="6"></rect>
<text class="term" x="14" y="24">${term}</text>
${panel}
</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1140 244" width="1140" height="244" role="img">
<title>Ranks of three keywords over a month: a line where measured, a square where absent, nothing where not measured</title>
<style>${STYLE}</style>
<rect class="page" width="1140" height="244"></rect>
${charts.join("\n")}
<text x="22" y="234">Line: measured, at that rank. Square: measured, and not in the results. Nothing: not measured that day.</text>
</svg>
`
}

const STYLE = `
svg { --page: #fbfbfa; --card: #fff; --ink: #1c1d1f; --quiet: #5b5f66; --line: #dfe1e4; --soft: #f0f1f3; --rank: #1f5fbf; --gone: #a8480f }
@media (prefers-color-scheme: dark) {
  svg { --page: #141517; --card: #1c1e21; --ink: #eceef0; --quiet: #a4a9b1; --line: #34383d; --soft: #25282c; --rank: #7db1ff; --gone: #f0a066 }
}
text { font: 12px system-ui, sans-serif; fill: var(--quiet) }
.term { font-weight: 600; font-size: 14px; fill: var(--ink) }
.end { text-anchor: end }
.page { fill: var(--page) }
.card { fill: var(--card); stroke: var(--line) }
.band { fill: var(--soft) }
.grid { stroke: var(--line); fill: none }
.line { stroke: var(--rank); stroke-width: 2; fill: none; stroke-linecap: round }
.dots { stroke: var(--rank); stroke-width: 4; fill: none; stroke-linecap: round }
.gone { fill: var(--gone) }
`

if (import.meta.main) writeFileSync(join(root, PICTURE), picture())
