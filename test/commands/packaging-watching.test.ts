import { describe, expect, test } from "bun:test"
import { composeFile } from "../../src/commands/packaging/compose.ts"
import type { Deployment } from "../../src/commands/packaging/deployment.ts"
import { grafanaDashboard } from "../../src/commands/packaging/grafana.ts"
import { ALERT_RULES, prometheusRules } from "../../src/commands/packaging/prometheus.ts"
import { versionOf } from "../../src/database/assets.ts"
import { describedSettings, readSettings, secretNames } from "../../src/settings/settings.ts"

const deployment = (rest: Partial<Deployment> = {}): Deployment => ({
  secrets: [],
  name: undefined,
  image: undefined,
  upstreams: [],
  settings: readSettings({}, () => ""),
  ...rest,
})
const metricNames = async () => {
  const texts = await Promise.all(
    [...new Bun.Glob("src/settings/metrics/*.ts").scanSync(".")].map((path) => Bun.file(path).text()),
  )
  return new Set(
    texts.flatMap((text) => [...text.matchAll(/"((?:appmeter|process)_[a-z_]+)"/g)].map(([, name]) => name)),
  )
}
const panelExpressions = () => {
  const { panels } = JSON.parse(grafanaDashboard(deployment())) as { panels: { targets?: { expr: string }[] }[] }
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
}
const metricsIn = (expr: string) =>
  [...expr.matchAll(/\b(?:appmeter|process)_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ""))

describe("monitoring", () => {
  test("alert rules and panels use existing metrics; each alert has a unique name and advice", async () => {
    const metrics = await metricNames()
    for (const expr of [...ALERT_RULES.map(({ expr }) => expr), ...panelExpressions()]) {
      expect(metricsIn(expr).length).toBeGreaterThan(0)
      expect(metricsIn(expr).filter((name) => !metrics.has(name))).toEqual([])
    }
    expect(new Set(ALERT_RULES.map(({ alert }) => alert)).size).toBe(ALERT_RULES.length)
    expect(ALERT_RULES.filter(({ action }) => action === "")).toEqual([])
  })

  test("the printed rule file is valid and contains the declared rules", () => {
    const { groups } = Bun.YAML.parse(prometheusRules(deployment())) as {
      groups: { rules: { alert: string; expr: string; for: string; annotations: { summary: string } }[] }[]
    }
    const [group] = groups
    expect(
      group?.rules.map(({ alert, expr, for: time, annotations }) => [alert, expr, time, annotations.summary]),
    ).toEqual(ALERT_RULES.map(({ alert, expr, for: time, summary }) => [alert, expr, time, summary]))
  })

  test("the dashboard's panels fill its columns without overlap and use the chosen source", () => {
    const { panels } = JSON.parse(grafanaDashboard(deployment())) as {
      panels: { type: string; gridPos: { x: number; y: number; w: number; h: number }; datasource?: { uid: string } }[]
    }
    const cells = new Set<string>()
    for (const { type, gridPos, datasource } of panels) {
      if (type !== "row") expect(datasource?.uid).toBe(["$", "{DS_PROMETHEUS}"].join(""))
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(cells.has(`${x} ${y}`)).toBeFalse()
          cells.add(`${x} ${y}`)
        }
    }
  })
})

test("the compose file names only existing settings and reads every secret from a file", () => {
  const secrets = secretNames()
  const text = composeFile(deployment({ secrets, name: "ranks.acme.test" }))
  const { services, secrets: files } = Bun.YAML.parse(text) as {
    services: Record<string, { environment: Record<string, string>; secrets: string[]; command?: string[] }>
    secrets: Record<string, { file: string }>
  }
  const settings = describedSettings().map(({ name }) => name)
  const names = Object.keys(services.server!.environment).map((name) => name.replace(/_FILE$/, ""))
  expect(names.filter((name) => !settings.includes(name))).toEqual([])
  for (const secret of secrets) {
    expect(services.server!.environment[`${secret}_FILE`]).toBe(`/run/secrets/${secret}`)
    expect(files[secret]).toEqual({ file: `secrets/${secret}` })
  }
  expect(services.work).toMatchObject({ command: ["work"], secrets: services.server!.secrets })
  expect(Object.keys(services)).toEqual(["postgres", "redis", "server", "work"])
  const image = "ghcr.io/acme/appmeter:1.0.0"
  expect(composeFile(deployment({ image })).match(/image: \S*appmeter\S*/g)).toEqual([`image: ${image}`])
  expect(services.server).toMatchObject({ image: `appmeter:${versionOf()}`, read_only: true, cap_drop: ["ALL"] })
})
