import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Observation } from "../../../src/kinds.ts"
import type { SourceName } from "../../../src/lib/upstreams.ts"
import type { ReadFailure, Source } from "../../../src/measuring/source.ts"
import { SOURCES } from "../../../src/sources.ts"
import { checkObservation } from "../../record.ts"
import { wholeBody } from "./parsed.ts"
import { NO_RECORDING, WHOLE_BODIES, type WholeBody } from "./whole-bodies.ts"

const REQUIRED_SOURCES: readonly SourceName[] = [
  ...Object.values(SOURCES)
    .flat()
    .map(({ name }) => name),
  "app-ads-txt",
]
const LISTED = readFileSync(join(import.meta.dirname, "../../../fixtures/upstream/SOURCES.md"), "utf8")
const ABOUT = { seenAt: new Date("2026-11-01T12:00:00Z"), sha256: new Uint8Array(32) }

function read({ source: name, file }: WholeBody, subject: object, body = wholeBody(file)): Observation {
  const source = Object.values(SOURCES)
    .flat()
    .find((candidate) => candidate.name === name) as unknown as Source<object>
  return source.parse(body, subject, ABOUT)
}

function outcome(body: WholeBody, subject: object, text?: string): string {
  try {
    read(body, subject, text)
    return "read"
  } catch (error) {
    return (error as ReadFailure).outcome ?? String(error)
  }
}

function sizeOf(reading: Observation): number {
  if (reading.kind === "search") return reading.results.length
  if (reading.kind === "hints") return reading.terms.length
  if (reading.kind === "reviews") return reading.reviews.length
  return reading.kind === "apps" || reading.kind === "chart" ? reading.apps.length : Number.NaN
}

test("every parser has a complete recorded body or a stated reason for its absence", () => {
  const whole = new Set(WHOLE_BODIES.map(({ source }) => source))
  const unproved = Object.keys(NO_RECORDING) as SourceName[]
  expect([...whole, ...unproved].sort()).toEqual([...REQUIRED_SOURCES].sort())
  for (const name of unproved) console.info(`unproved on a recorded body: ${name} (${NO_RECORDING[name]})`)
})

describe.each(WHOLE_BODIES.map((body) => [body.file, body] as const))("%s", (_, body) => {
  test("a complete body is listed in SOURCES.md and is parsed completely", () => {
    expect(existsSync(join(import.meta.dirname, "../../../fixtures/upstream", body.file))).toBe(true)
    expect(LISTED).toMatch(
      new RegExp(`^\\| ${body.file.replaceAll("../../sources", "\\.")} \\| [\\w.-]+/[\\w.-]+ \\|.*\\| MIT \\|`, "m"),
    )
    const reading = read(body, body.subject)
    expect(sizeOf(reading)).toBe(body.holds)
    checkObservation(reading, ABOUT.seenAt)
  })

  test("a complete body fails as mismatched for any other request", () => {
    for (const other of body.otherSubjects) {
      expect([other, outcome(body, { ...body.subject, ...other })]).toEqual([other, "mismatched"])
    }
  })

  test("a truncated body fails as changed", () => {
    const text = wholeBody(body.file)
    for (const part of [0.2, 0.5, 0.8, 0.99]) {
      expect([part, outcome(body, body.subject, text.slice(0, text.length * part))]).toEqual([part, "changed"])
    }
  })
})
