import { describe, expect } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { catalog } from "../../src/catalog.ts"
import { readTree } from "../../src/database/assets.ts"
import { freshDatabase } from "../database.ts"
import { afterSlow, beforeSlow, slow } from "../long.ts"
import { openService } from "../service.ts"
import { conformanceFixtures, conformanceOffers, conformanceTools } from "./conformance-tools.ts"
import { type Served, serve, signedIn } from "./tools-server.ts"

// Runs every server scenario of the official suite, in both revisions, against a real server. It runs on Bun because
// Node 20 is too old for it.

const SUITE = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/conformance/dist/index.js")

/** Checks that fail because a feature is not implemented, by reason. A check that passes must leave the list. */
const NOT_OURS: Record<string, string[]> = {
  "resources are texts, of which nobody is told that they change": [
    "resources-read-binary",
    "resources-subscribe",
    "resources-unsubscribe",
  ],
  "prompts are texts of our own, and ask nothing back": [
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "sep-2322-non-tool-incomplete",
  ],
  "answers are JSON: no pictures, sounds or embedded resources": [
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
  ],
  "no log lines are sent to a client": ["logging-set-level", "tools-call-with-logging"],
  "a person is asked for yes or no, once a call: no fields to fill in, no sampling, no roots, no second round": [
    "tools-call-sampling",
    "elicitation-sep1034-general",
    "elicitation-sep1330-general",
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2322-sampling-incomplete",
    "sep-2322-list-roots-incomplete",
    "sep-2322-request-state-incomplete",
    "sep-2322-multiple-inputs-incomplete",
    "sep-2322-multi-round-r1",
    "sep-2322-respect-client-capabilities",
  ],
  "an answer counts with the state of its own question alone: without it, or with another, the question is asked again":
    ["sep-2322-reject-tampered-state", "sep-2322-ignore-unexpected-params"],
  "no argument is repeated in a header": [
    "sep-2243-server-no-xmcp-tool",
    "sep-2243-server-decode-base64",
    "sep-2243-server-validate-param-match",
    "sep-2243-server-reject-invalid-param-chars",
    "sep-2243-server-reject-param-mismatch",
  ],
  "schemas are made from operations, so none of another's writing can be passed through": [
    "json-schema-2020-12-tool-found",
  ],
}

/** Scenarios that must run without a failed check. */
const PASSING: Record<string, string[]> = {
  "2025-11-25": [
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-error",
    "dns-rebinding-protection",
    "tools-call-with-progress",
    "tools-call-elicitation",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "resources-list",
    "resources-read-text",
    "resources-templates-read",
    "completion-complete",
    "server-sse-multiple-streams",
  ],
  "2026-07-28": [
    "tools-list",
    "tools-call-simple-text",
    "tools-call-error",
    "dns-rebinding-protection",
    "http-header-validation",
    "tools-call-with-progress",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "resources-list",
    "resources-read-text",
    "resources-templates-read",
    "completion-complete",
    "input-required-result-basic-elicitation",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
  ],
}

interface Check {
  id: string
  status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO"
  errorMessage?: string
}

/** The checks of each scenario. */
type Report = Map<string, Check[]>

const reports = new Map<string, Report>()
const served: Served[] = []
let directory: string

beforeSlow(async () => {
  directory = mkdtempSync(join(tmpdir(), "appmeter-conformance-"))
  const service = openService({
    sql: await freshDatabase(),
    catalog: [...catalog, ...conformanceTools],
    offers: conformanceOffers,
    toolPace: { progressEveryMs: 50 },
    fixtures: new Map([...readTree("fixtures/sandbox", ".json"), ...conformanceFixtures]),
  })
  const server = serve(service)
  const proxy = signedIn(server, await service.key(await service.workspace()))
  served.push(proxy, server)
  for (const revision of Object.keys(PASSING)) reports.set(revision, await run(proxy.url, revision))
})

afterSlow(() => {
  for (const { stop } of served) stop()
  rmSync(directory, { recursive: true, force: true })
})

describe.each(Object.keys(PASSING))("revision %s", (revision) => {
  const report = () => reports.get(revision) as Report

  slow("the whole conformance suite ran", () => {
    expect([...report().keys()]).toEqual(expect.arrayContaining(PASSING[revision] as string[]))
    expect(report().size).toBeGreaterThan(30)
  })

  slow("every conformance check passes, except those of features that are not implemented", () => {
    const allowed = new Set(Object.values(NOT_OURS).flat())
    const surprising = [...report()].flatMap(([scenario, checks]) =>
      checks.filter((check) => failed(check) && !allowed.has(check.id)).map((check) => ({ scenario, ...check })),
    )
    expect(surprising).toEqual([])
  })

  slow("every conformance scenario of a tool server passes completely", () => {
    for (const scenario of PASSING[revision] as string[]) {
      const checks = report().get(scenario) as Check[]
      expect([scenario, checks.filter(failed)]).toEqual([scenario, []])
      expect(checks.filter(({ status }) => status === "SUCCESS").length).toBeGreaterThan(0)
    }
  })

  slow("every sent message matches the schema of the specification", () => {
    const wire = [...report().values()].flat().filter(({ id }) => id === "wire-schema-valid")
    expect(wire.length).toBeGreaterThan(20)
    expect(new Set(wire.map(({ status }) => status))).toEqual(new Set(["SUCCESS"]))
  })
})

slow("every check that is listed as a missing feature still fails", () => {
  const checks = [...reports.values()].flatMap((report) => [...report.values()].flat())
  const passing = Object.values(NOT_OURS)
    .flat()
    .filter((id) => {
      const outcomes = new Set(checks.filter((check) => check.id === id).map(({ status }) => status))
      return outcomes.has("SUCCESS") || !(outcomes.has("FAILURE") || outcomes.has("WARNING"))
    })
  expect(passing).toEqual([])
})

const failed = ({ status }: Check) => status === "FAILURE" || status === "WARNING"

async function run(url: string, revision: string): Promise<Report> {
  const output = join(directory, revision)
  const args = ["--url", url, "--spec-version", revision, "--suite", "all", "--timeout", "5000", "-o", output]
  const child = Bun.spawn([process.execPath, SUITE, "server", ...args], {
    stdout: "ignore",
    stderr: "ignore",
    timeout: 18_000,
  })
  await child.exited
  const read = (name: string): [string, Check[]] => [
    // server-<scenario>-<time>
    name.replace(/^server-(.+)-\d{4}-\d\d-\d\dT.*$/, "$1"),
    JSON.parse(readFileSync(join(output, name, "checks.json"), "utf8")),
  ]
  return new Map(readdirSync(output).map(read))
}
