import { expect } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Compares a text, or a value as JSON, with test/snapshots/<name>. UPDATE=1 writes it instead. */
export function expectSnapshot(name: string, value: unknown): void {
  const text = typeof value === "string" ? value : `${JSON.stringify(value, null, 2)}\n`
  if (process.env.UPDATE === "1") writeFileSync(pathOf(name), text)
  expect(text, `test/snapshots/${name} differs; UPDATE=1 rewrites it`).toBe(readFileSync(pathOf(name), "utf8"))
}

/** Compares each value with test/snapshots/<folder>/<name>.json. The folder may contain no other file. */
export function expectSnapshots(folder: string, values: ReadonlyMap<string, unknown>): void {
  const names = [...values.keys()].map((name) => `${name}.json`).sort()
  if (process.env.UPDATE === "1") {
    rmSync(pathOf(folder), { recursive: true, force: true })
    mkdirSync(pathOf(folder))
  }
  for (const [name, value] of values) expectSnapshot(`${folder}/${name}.json`, value)
  expect(readdirSync(pathOf(folder)).sort()).toEqual(names)
}

export function readSnapshot<T>(name: string): T {
  return JSON.parse(readFileSync(pathOf(name), "utf8"))
}

function pathOf(name: string): string {
  return join(import.meta.dirname, "snapshots", name)
}
