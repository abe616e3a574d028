import { afterEach, describe, expect, test } from "bun:test"
import { hash } from "node:crypto"
import { openBodyParsers } from "../../../src/commands/process/body-parsers.ts"
import { appAdsText } from "../../../src/listings/sources/app-ads.ts"
import type { Parsers, ParsersOptions } from "../../../src/measuring/parsing/pool.ts"
import { parseBody, type RawBody, ReadFailure, rawBody } from "../../../src/measuring/source.ts"
import { cases, slow } from "../../long.ts"
import { fixture, PARSED } from "../../stores/parsing/parsed.ts"

const open: Parsers[] = []
const parsers = (options: Partial<ParsersOptions> = {}) => {
  const opened = openBodyParsers(options)
  open.push(opened)
  return opened
}
afterEach(() => {
  for (const pool of open.splice(0)) pool.stop()
})

const bodyOf = (text: string): RawBody => {
  const bytes = Buffer.from(text)
  return rawBody({ bytes, sha256: hash("sha256", bytes, "buffer"), url: "http://here/", seenAt: new Date() })
}
const { source, subject, fixture: file } = PARSED.find(({ source }) => source.name === "itunes-lookup")!
/** A body large enough for the thread. */
const LARGE = fixture(file) + " ".repeat(70_000)

const endless = () => new Worker(new URL("./endless-worker.ts", import.meta.url).href)
const failureOf = async (read: Promise<unknown>): Promise<ReadFailure> => {
  const failure = await read.catch((error) => error)
  expect(failure).toBeInstanceOf(ReadFailure)
  return failure as ReadFailure
}

describe("a large body", () => {
  slow("a large body of every source is parsed with the same result in the thread and in the main thread", async () => {
    const { parse } = parsers()
    for (const { source, subject: request, fixture: file, as } of PARSED.filter((_, at) => at % cases(6, 1) === 0)) {
      const text = fixture(file)
      // makes the body large enough for the thread; at its end, because a response of Google Play begins with )]}'
      const body = bodyOf(text + (as === "html-json" ? `<!--${" ".repeat(70_000)}-->` : " ".repeat(70_000)))
      const inPlace = attempt(() => parseBody(source, request, body, "us"))
      const inWorker = await parse(source, request, body, "us").catch((failure) => failure)
      if (inPlace instanceof ReadFailure) expect([file, inWorker.outcome]).toEqual([file, inPlace.outcome])
      else expect([file, plain(inWorker)]).toEqual([file, plain(inPlace as object)])
    }
  })

  test("a large body does not block the main thread while it is parsed", async () => {
    const { parse } = parsers()
    const body = bodyOf(`[${'"\\\\\\"",'.repeat(1_000_000)}0]`)
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    await failureOf(parse(source, subject, body, undefined))
    const [during, before] = [turns, turns]
    await failureOf((async () => parseBody(source, subject, body, undefined))())
    clearInterval(timer)
    expect(during).toBeGreaterThan(1)
    expect(turns - before).toBe(0)
  })

  test("a large invalid body fails in the thread with the same message as in the main thread", async () => {
    const { parse } = parsers()
    const body = bodyOf(`{"resultCount":1,"results":[${"{},".repeat(30_000)}{}]}`)
    const failure = await failureOf(parse(source, subject, body, undefined))
    expect([failure.outcome, failure.message]).toEqual(["changed", "resultCount is not the number of results"])
    expect(failure.body).toBe(body)
  })

  slow("a large body whose parser never ends times out, and the next body is parsed", async () => {
    const { parse } = parsers({ start: endless, deadlineMs: 500 })
    const [first, second] = await Promise.all([
      failureOf(parse(source, subject, bodyOf(`e${LARGE}`), undefined)),
      failureOf(parse(source, subject, bodyOf(`n${LARGE}`), undefined)),
    ])
    expect([first.outcome, first.message]).toEqual(["failed", "its body was not parsed within 500 ms"])
    expect([second.outcome, second.message]).toEqual(["changed", "it began with n"])
  })

  test("a large body that kills the thread fails with that reason, and the next body is parsed", async () => {
    const { parse } = parsers({ start: endless })
    const [first, second] = await Promise.all([
      failureOf(parse(source, subject, bodyOf(`x${LARGE}`), undefined)),
      failureOf(parse(source, subject, bodyOf(`n${LARGE}`), undefined)),
    ])
    expect([first.outcome, first.message]).toEqual(["failed", "its body crashed the thread that parsed it"])
    expect(second.message).toBe("it began with n")
  })
})

test("a small body, or a body whose parser is not in the thread, is parsed in the main thread", async () => {
  const { parse } = parsers({ start: endless })
  expect(await parse(source, subject, bodyOf(fixture(file)), undefined)).toMatchObject({ kind: "apps" })
  const ownSource = { ...source, parse: () => ({ kind: "own" }) as never }
  expect(await parse(ownSource, subject, bodyOf(`e${LARGE}`), undefined)).toEqual({ kind: "own" } as never)
})

test("every body is parsed in the main thread if threads are off", async () => {
  const none = parsers({
    start: () => {
      throw new Error("no threads here")
    },
  })
  expect(await none.parse(source, subject, bodyOf(LARGE), undefined)).toMatchObject({ kind: "apps" })
  const threadless = parsers({ start: () => new Worker(new URL("./no-such-worker.ts", import.meta.url).href) })
  expect(await threadless.parse(source, subject, bodyOf(LARGE), undefined)).toMatchObject({ kind: "apps" })
})

test("an app-ads.txt is parsed in the thread too", async () => {
  const lines = "a.com, 1, DIRECT\n".repeat(10_000)
  const record = { system: "a.com", publisherId: "1", relation: "DIRECT" as const }
  expect(await parsers().parseText(appAdsText, Buffer.from(lines))).toEqual({ records: [record], variables: {} })
})

function attempt<T>(work: () => T): T | unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

function plain(observation: object): object {
  return { ...observation, sha256: Buffer.from((observation as { sha256: Uint8Array }).sha256).toString("hex") }
}
