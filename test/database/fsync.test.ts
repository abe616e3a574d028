import { afterAll, expect, mock } from "bun:test"
import * as fs from "node:fs"
import { join } from "node:path"
import { slow } from "../long.ts"
import { scratchFolder } from "./processes.ts"

const { folder, remove } = scratchFolder()
afterAll(remove)

slow(
  "every commit is flushed to the disk before it is acknowledged",
  async () => {
    let flushed: number[] = []
    const real = { ...fs }
    const fsyncSync = (descriptor: number) => {
      flushed.push(descriptor)
      real.fsyncSync(descriptor)
    }
    mock.module("node:fs", () => ({ ...real, fsyncSync, default: { ...real, fsyncSync } }))
    const { openCluster } = await import("../../src/database/embedded/cluster.ts")
    const cluster = await openCluster(join(folder, "postgres"))
    const atFirstStart = flushed.length
    await cluster.exec("create table t (id int)")
    const counts: number[] = []
    for (let i = 0; i < 20; i++) {
      flushed = []
      await cluster.exec(`insert into t values (${i})`)
      counts.push(flushed.length)
    }
    flushed = []
    await cluster.exec("select count(*) from t")
    const reading = flushed.length
    flushed = []
    await cluster.exec("checkpoint")
    const checkpoint = flushed.length
    await cluster.close()
    mock.module("node:fs", () => real)
    const settings =
      `first start ${atFirstStart}, 20 commits ${counts.reduce((a, b) => a + b)}, a read ${reading}, ` +
      `a checkpoint ${checkpoint}`
    process.stdout.write(`calls of fsync: ${settings}\n`)
    expect(atFirstStart).toBeGreaterThan(900)
    expect(Math.min(...counts)).toBeGreaterThan(0)
    expect(reading).toBe(0)
    expect(checkpoint).toBeGreaterThan(0)
  },
  30_000,
)
