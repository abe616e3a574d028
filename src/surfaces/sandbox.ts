import * as v from "valibot"
import { Fault } from "../faults.ts"
import { checkInput } from "../input.ts"
import { type Operation, pathNames } from "../operation.ts"
import { type PreparedAnswer, prepare } from "../prepared.ts"

/** A call with a sample answer, from fixtures/sandbox. */
export interface Sample {
  /** The checked, normalised input the fixture names, defaults filled in. */
  input: Record<string, unknown>
  answer: Record<string, unknown>
  /** Below /v1, path parameters filled in and percent-encoded. */
  path: string
  /** What the call needs besides its path, as the fixture gives it: query of a GET, body of a POST. */
  rest: Record<string, unknown>
}

export interface Sandbox {
  /** Operation id → its sample. */
  samples: ReadonlyMap<string, Sample>
  /** The sample's bytes for any checked input about the sample's ids; throws not_found for other ids. */
  answer(operation: Operation, input: Record<string, unknown>): PreparedAnswer
  /** Path below /v1/sandbox of every GET that needs no query → its bytes. */
  exact: ReadonlyMap<string, PreparedAnswer>
}

/**
 * Reads every operation's fixture, {"input", "answer"} in "<id>.json", with {publicUrl} in the answer's strings replaced.
 * Throws an Error naming file and field when one is missing, is no JSON, or does not fit its operation.
 */
export function prepareSandbox(
  catalog: readonly Operation[],
  fixtures: ReadonlyMap<string, string>,
  publicUrl: string,
): Sandbox {
  const samples = new Map<string, Sample>()
  const answers = new Map<string, PreparedAnswer>()
  const exact = new Map<string, PreparedAnswer>()
  for (const operation of catalog) {
    const sample = readSample(operation, fixtures.get(`${operation.id}.json`), publicUrl)
    const answer = prepare(JSON.stringify(sample.answer))
    samples.set(operation.id, sample)
    answers.set(operation.id, answer)
    if (operation.method === "GET" && Object.keys(sample.rest).length === 0) exact.set(sample.path, answer)
  }
  return {
    samples,
    exact,
    answer(operation, input) {
      const sample = samples.get(operation.id) as Sample
      for (const name of subjects(operation))
        if (input[name] !== sample.input[name]) throw new Fault(operation.missing ?? "not_found")
      return answers.get(operation.id) as PreparedAnswer
    },
  }
}

/** Inputs that name something which exists in the sandbox, or does not. */
function subjects({ path, subject, names: named }: Operation): Set<string> {
  const names = new Set(pathNames(path))
  if (subject !== undefined) names.add(subject)
  if (named !== undefined) names.add(named)
  return names
}

function readSample(operation: Operation, text: string | undefined, publicUrl: string): Sample {
  const file = `fixtures/sandbox/${operation.id}.json`
  if (text === undefined) throw new Error(`${file} is missing`)
  const { input: given, answer } = parse(file, text, publicUrl)
  const input = checkedInput(operation, given, file)
  const checked = v.safeParse(operation.output, answer)
  if (!checked.success) throw new Error(`${file}: answer${problem(checked.issues[0])}`)
  const names = pathNames(operation.path)
  const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input[name])))
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)))
  return { input, answer, path, rest }
}

function parse(file: string, text: string, publicUrl: string): Pick<Sample, "input" | "answer"> {
  let fixture: Record<string, unknown>
  try {
    fixture = JSON.parse(text, (_, value) =>
      typeof value === "string" ? value.replaceAll("{publicUrl}", publicUrl) : value,
    )
  } catch {
    throw new Error(`${file} is not JSON`)
  }
  if (!isObject(fixture) || !isObject(fixture.input) || !isObject(fixture.answer))
    throw new Error(`${file} must hold {"input": {…}, "answer": {…}}`)
  return { input: fixture.input, answer: fixture.answer }
}

function checkedInput(operation: Operation, input: Record<string, unknown>, file: string): Record<string, unknown> {
  try {
    return checkInput(operation, input)
  } catch (error) {
    if (error instanceof Fault) throw new Error(`${file}: input.${error.extra.field}: ${error.code}`)
    throw error
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function problem(issue: v.BaseIssue<unknown>): string {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("")
  return `${path}: ${issue.message}`
}
