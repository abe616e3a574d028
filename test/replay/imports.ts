import { join } from "node:path"
import type { Call } from "./calls.ts"
import type { Comparer } from "./compare.ts"
import { ALL_TERMS, IOS_RIVALS, KETTLE, publicReadings, TEA, TERMS } from "./readings.ts"
import type { Report } from "./report.ts"
import { cliJson, openBuild } from "./server.ts"
import { ask, type Session } from "./session.ts"
import { get } from "./writes.ts"

interface ImportOptions {
  folder: string
  oldBinary: string
  newBinary: string
  now: Date
}

const DAYS = 10
const PARTS = 6

/** Returns one file in three orders: unchanged; shuffled; cut in six with the newest part first. */
function orders(lines: string[]): Record<string, string[][]> {
  const shuffled = lines
    .map((line, i) => ({ line, place: Bun.hash.crc32(`${i} ${line}`) }))
    .sort((a, b) => a.place - b.place)
    .map(({ line }) => line)
  const size = Math.ceil(lines.length / PARTS)
  const parts = Array.from({ length: PARTS }, (_, i) => lines.slice(i * size, (i + 1) * size)).reverse()
  return { whole: [lines], shuffled: [shuffled], "newest part first": parts }
}

/**
 * Imports one world in three orders into both builds. Compares the builds with each other for each order, and the new
 * build's second and third order with its first, because derived figures do not depend on the order.
 */
export async function compareImports(options: ImportOptions, comparer: Comparer, report: Report): Promise<void> {
  const { folder, oldBinary, newBinary, now } = options
  const probes = probeCalls()
  const answersByOrder: Record<string, { text: string; status: number; headers: Record<string, string> }[][]> = {}
  for (const [order, parts] of Object.entries(orders(publicReadings(now, DAYS)))) {
    answersByOrder[order] = await Promise.all(
      [oldBinary, newBinary].map(async (binary, i) => {
        const name = i === 0 ? ("old" as const) : ("new" as const)
        const build = openBuild({ name, binary, folder: join(folder, `${name}-import`) })
        const server = await build.serve()
        try {
          const session: Session = { build, server, aliases: await trackAndImport(build, parts) }
          const answers = []
          for (const probe of probes) answers.push(await ask(session, probe))
          return answers
        } finally {
          await server.stop()
          build.remove()
        }
      }),
    )
  }
  const whole = answersByOrder.whole![1]!
  for (const [order, [old, next]] of Object.entries(answersByOrder)) {
    for (const [i, probe] of probes.entries()) {
      const call = { ...probe, state: `${order}: ${probe.state}`, account: `import ${order}` }
      report.add("import", comparer.compare(call, old![i]!, next![i]!))
      if (order === "whole") continue
      const renamed = { ...call, state: `${order} against whole: ${probe.state}`, account: `import orders ${order}` }
      report.add("import", comparer.compare(renamed, whole[i]!, next![i]!))
    }
  }
}

async function trackAndImport(build: ReturnType<typeof openBuild>, parts: string[][]): Promise<Record<string, string>> {
  await cliJson(build, [
    "workspace",
    "create",
    "main",
    "--plan",
    "enterprise",
    "--explorer",
    "yes",
    "--limit",
    "ratePerSecond=100000",
  ])
  const keywords = ALL_TERMS.flatMap((term) => ["--keyword", term])
  const countries = ["--country", "us", "--country", "gb"]
  const app = ["app", "add", TEA.name, "--ios", TEA.id, "--android", TEA.pkg, "--workspace", "main"]
  const { app: tea } = await cliJson(build, [...app, ...countries, ...keywords])
  const { secret } = await cliJson(build, ["key", "create", "--workspace", "main", "--name", "full"])
  for (const part of parts) {
    const { bad } = await cliJson(build, ["import", "-"], `${part.join("\n")}\n`)
    if (bad.length > 0) throw new Error(`${build.name}: lines were refused: ${JSON.stringify(bad.slice(0, 3))}`)
  }
  return { tea: tea.id, "key:full": secret }
}

/**
 * Calls for every figure that is derived from readings: ranks, history, charts, reviews, rivals, alerts, difficulty,
 * popularity.
 */
function probeCalls(): Call[] {
  const ofApp = [
    "",
    "/keywords",
    "/history",
    "/rivals",
    "/charts",
    "/reviews",
    "/reviews/stats",
    "/page",
    "/timeline",
    "/today",
    "/competition",
    "/chart-movers",
    "/featuring",
    "/weekly-plan",
  ]
  const terms = [TERMS.present[0]!, TERMS.sometimes[0]!, TERMS.absent[0]!].map(encodeURIComponent)
  const paths = [
    ...ofApp.flatMap((path) =>
      ["", "?country=gb", "?platform=android"].map((query) => `/v1/apps/@{tea}${path}${query}`),
    ),
    ...terms.flatMap((term) =>
      ["ranks", "metrics", "metrics/history"].map((what) => `/v1/hive/keywords/${term}/${what}?country=us`),
    ),
    ...[TEA.id, KETTLE.id, IOS_RIVALS[1]!].flatMap((id) => [
      `/v1/hive/apps/${id}`,
      `/v1/hive/spy/${id}`,
      `/v1/hive/similar/${id}`,
    ]),
    `/v1/hive/gap?ids=${TEA.id},${KETTLE.id}`,
    "/v1/hive/find?genre=6023&limit=100",
    "/v1/hive/charts?kind=free&genre=36",
    "/v1/hive/movers?kind=free&genre=36",
    "/v1/hive/new",
    "/v1/hive/landscape?genre=6023",
    "/v1/hive/research?seed=green%20tea",
    "/v1/alerts?limit=500",
    "/v1/portfolio",
  ]
  return paths.map((path) => ({
    ...get(path, path.split("?")[0]!.replace("@{tea}", "{appId}"), path),
    surface: "import",
  }))
}
