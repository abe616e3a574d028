import type { Call } from "./calls.ts"
import { type Answer, type Build, type Server, send } from "./server.ts"
import type { Aliases } from "./world.ts"
import type { Step } from "./writes.ts"

/** A running build, with the ids and secrets of its world by alias. */
export interface Session {
  build: Build
  server: Server
  aliases: Aliases
}

/** Sends a call. In its answer, the world's own ids and secrets are replaced by their aliases. */
export async function ask({ server, aliases }: Session, call: Call): Promise<Answer> {
  const headers = new Headers(filledAll(call.headers ?? {}, aliases))
  if (call.key !== null && !headers.has("authorization"))
    headers.set("authorization", `Bearer ${aliases[`key:${call.key}`]}`)
  if (call.body !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json")
  const url = server.url + filled(call.path, aliases)
  const body = call.body === undefined ? undefined : filled(call.body, aliases)
  const answer = await send(url, { method: call.method, headers, ...(body !== undefined && { body }) })
  return { ...answer, text: named(answer.text, aliases) }
}

const ATTEMPTS = 60
const PAUSE_MS = 250

/** Runs steps one after another. Values that a step takes from its answer are available to later steps. */
export async function runSteps(session: Session, steps: readonly Step[]): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const step of steps) {
    let answer = await ask(session, step)
    for (let attempt = 1; attempt < ATTEMPTS && !isReached(answer, step); attempt++) {
      await Bun.sleep(PAUSE_MS)
      answer = await ask(session, step)
    }
    const body = parsed(answer.text)
    for (const [alias, path] of Object.entries(step.takes ?? {})) {
      const value = field(body, path)
      session.aliases[alias] = typeof value === "string" ? value : "nothing"
    }
    answers.push(answer)
  }
  return answers
}

function isReached({ text, status }: Answer, { until }: Step): boolean {
  return until === undefined || status !== 200 || until.values.includes(String(field(parsed(text), until.field)))
}

export function filled(text: string, aliases: Aliases): string {
  return text.replace(/@\{([^}]+)\}/g, (_, name) => aliases[name] ?? `no-${name}`)
}

function filledAll(headers: Record<string, string>, aliases: Aliases): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value, aliases)]))
}

/**
 * Replaces the world's ids and secrets of twelve characters or more by their aliases. Shorter ones could be any text.
 */
export function named(text: string, aliases: Aliases): string {
  let result = text
  for (const [name, value] of Object.entries(aliases))
    if (value.length >= 12 && result.includes(value)) result = result.replaceAll(value, `<${name}>`)
  return result
}

export function field(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((node, name) => (node as Record<string, unknown> | null)?.[name], value)
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
