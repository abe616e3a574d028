import * as v from "valibot"
import { checkInput } from "../core/check-input.ts"
import { missingCode, type Operation, pathNames } from "../core/operation.ts"
import { Fault } from "../lib/faults.ts"
import { isRecord } from "../lib/objects.ts"
import { type PreparedAnswer, prepare } from "../lib/prepared.ts"

/** A call with a sample answer, from fixtures/sandbox. */
export interface Sample {
  /** The input of the fixture after checks and normalisation, with defaults. */
  input: Record<string, unknown>
  answer: Record<string, unknown>
  /** The path below /v1, with path parameters filled in and percent-encoded. */
  path: string
  /** The arguments outside the path, as in the fixture: the query of a GET, the body of a POST. */
  rest: Record<string, unknown>
}

export interface Sandbox {
  samples: ReadonlyMap<string, Sample>
  /** Returns the sample's bytes for any checked input with the sample's ids. Throws not_found for other ids. */
  answer(operation: Operation, input: Record<string, unknown>): PreparedAnswer
  /** The bytes of every GET that needs no query, by its path below /v1/sandbox. */
  exact: ReadonlyMap<string, PreparedAnswer>
}

/** "<id>.json" has "input" and "answer", and further samples in "others". Throws an Error that names file and field. */
export function prepareSandbox(
  catalog: readonly Operation[],
  fixtures: ReadonlyMap<string, string>,
  publicUrl: string,
): Sandbox {
  const samples = new Map<string, Sample>()
  const answers = new Map<string, PreparedSample[]>()
  const exact = new Map<string, PreparedAnswer>()
  for (const operation of catalog) {
    const read = readSamples(operation, fixtures.get(`${operation.id}.json`), publicUrl)
    const prepared = read.map((sample) => ({ sample, answer: prepare(JSON.stringify(sample.answer)) }))
    samples.set(operation.id, read[0] as Sample)
    answers.set(operation.id, prepared)
    for (const { sample, answer } of prepared)
      if (operation.method === "GET" && Object.keys(sample.rest).length === 0) exact.set(sample.path, answer)
  }
  return {
    samples,
    exact,
    answer(operation, input) {
      const names = [...subjects(operation)]
      const samples = answers
        .get(operation.id)
        ?.find(({ sample }) => names.every((name) => input[name] === sample.input[name]))
      if (!samples) throw new Fault(missingCode(operation))
      return samples.answer
    },
  }
}

interface PreparedSample {
  sample: Sample
  answer: PreparedAnswer
}

/** Returns the inputs that refer to an item which must exist in the sandbox. */
function subjects({ path, subject, names: named }: Operation): Set<string> {
  const names = new Set(pathNames(path))
  if (subject !== undefined) names.add(subject)
  if (named !== undefined) names.add(named)
  return names
}

/** Returns the samples. Documents show the first. */
function readSamples(operation: Operation, text: string | undefined, publicUrl: string): Sample[] {
  const file = `fixtures/sandbox/${operation.id}.json`
  if (text === undefined) throw new Error(`${file} is missing`)
  return parse(file, text, publicUrl).map((item) => sampleOf(operation, item, file))
}

function sampleOf(operation: Operation, { input: given, answer }: FixtureCall, file: string): Sample {
  const input = checkedInput(operation, given, file)
  const checked = v.safeParse(operation.output, answer)
  if (!checked.success) throw new Error(`${file}: answer${problem(checked.issues[0])}`)
  const names = pathNames(operation.path)
  const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input[name])))
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)))
  return { input, answer, path, rest }
}

type FixtureCall = Pick<Sample, "input" | "answer">

function parse(file: string, text: string, publicUrl: string): FixtureCall[] {
  let fixture: Record<string, unknown>
  try {
    fixture = JSON.parse(text, (_, value) =>
      typeof value === "string" ? value.replaceAll("{publicUrl}", publicUrl) : value,
    )
  } catch {
    throw new Error(`${file} is not JSON`)
  }
  const all = [fixture, ...(isRecord(fixture) && Array.isArray(fixture.others) ? fixture.others : [])]
  if (!all.every(isWritten)) throw new Error(`${file} must hold {"input": {…}, "answer": {…}}`)
  return all
}

function isWritten(value: unknown): value is FixtureCall {
  return isRecord(value) && isRecord(value.input) && isRecord(value.answer)
}

function checkedInput(operation: Operation, input: Record<string, unknown>, file: string): Record<string, unknown> {
  try {
    return checkInput(operation, input)
  } catch (error) {
    if (error instanceof Fault) throw new Error(`${file}: input.${error.extra.field}: ${error.code}`)
    throw error
  }
}

function problem(issue: v.BaseIssue<unknown>): string {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("")
  return `${path}: ${issue.message}`
}
