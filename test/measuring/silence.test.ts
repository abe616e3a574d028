import { expect } from "bun:test"
import { createMeasure } from "../../src/measuring/measure.ts"
import { slow } from "../long.ts"
import { EGRESS, prepareScene } from "./scene.ts"
import { searches } from "./stand-in.ts"

const scene = prepareScene()

slow("a live read from a store that has long been unreachable fails with the reason instead of an ETA", async () => {
  const measure = createMeasure({
    sql: scene.sql,
    kinds: [searches],
    egress: EGRESS,
    now: () => new Date(),
    sources: [{ name: "apple-web-search", upstream: searches.upstream }],
    isReading: () => true,
    nudge() {},
    onEnded() {},
    pollMs: 50,
  })
  const ask = (subject: string) =>
    measure({ kind: "search", platform: "ios", storefront: "us", subject }, { maxAgeMs: 60_000, waitMs: 50 })
  expect(await ask("tea")).toMatchObject({ state: "pending" })
  const failed = (failures: number) => scene.sql`
    insert into source_state (source, answered_at, failed_at, failure, detail, failures)
    values ('apple-web-search', now() - interval '2 hours', now(), 'failed', 'connect 10.0.0.1 refused', ${failures})
    on conflict (source) do update
    set failures = excluded.failures`
  await failed(1)
  expect(await ask("tea timer")).toMatchObject({ state: "pending" })
  await failed(3)
  const refused = await ask("tea clock")
  expect(refused).toEqual({ state: "failed", why: "failed", because: expect.any(String) })
  const { because } = refused as { because: string }
  expect(because).toMatch(/ has been unreachable since \d{4}-\d\d-\d\d \d\d:\d\d UTC\. It is retried/)
  expect(because).not.toContain("10.0.0.1")
})
