import { expect } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Holds a text, or a value as JSON, to test/snapshots/<name>; with UPDATE=1 writes it there instead. */
export function expectSnapshot(name: string, value: unknown): void {
  const text = typeof value === "string" ? value : `${JSON.stringify(value, null, 2)}\n`
  if (process.env.UPDATE === "1") writeFileSync(pathOf(name), text)
  expect(text, `test/snapshots/${name} differs; UPDATE=1 rewrites it`).toBe(readFileSync(pathOf(name), "utf8"))
}

export function readSnapshot<T>(name: string): T {
  return JSON.parse(readFileSync(pathOf(name), "utf8"))
}

function pathOf(name: string): string {
  return join(import.meta.dirname, "snapshots", name)
}
