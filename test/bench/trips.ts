// Loaded before a server (bun --preload): writes into the file that TRIPS names which statements of the embedded database took
// long, and how long a client had it to itself, once a second.
import { appendFileSync } from "node:fs"
import { Bridge } from "../../src/database/embedded/bridge.ts"
import { Turns } from "../../src/database/embedded/turns.ts"

const FILE = process.env.TRIPS
const LONG_MS = Number(process.env.TRIPS_LONG_MS ?? 50)
const texts = new Map<string, string>()
let noted: object[] = []
/** Of the second: how long statements ran, and how long requests and background work had the backend to themselves. */
let busy = { trips: 0, tripsMs: 0, requestsMs: 0, backgroundMs: 0, backgroundTurns: 0 }

const { exec } = Bridge.prototype
Bridge.prototype.exec = async function (batch, limitMs) {
  const statements = statementsIn(Buffer.from(batch.buffer, batch.byteOffset, batch.byteLength))
  const startedAt = performance.now()
  try {
    return await exec.call(this, batch, limitMs)
  } finally {
    const ms = Math.round(performance.now() - startedAt)
    busy.trips++
    busy.tripsMs += ms
    if (ms >= LONG_MS) noted.push({ trip: ms, statements, waiting: this.turns.contended })
  }
}

const since = new WeakMap<object, number>()
const { acquire, release } = Turns.prototype
Turns.prototype.acquire = function (turn, ...rest) {
  const { begin } = turn
  turn.begin = () => {
    since.set(turn, performance.now())
    turn.begin = begin
    return begin.call(turn)
  }
  return acquire.call(this, turn, ...rest)
}
Turns.prototype.release = function (turn) {
  const begun = since.get(turn)
  since.delete(turn)
  const ms = begun === undefined ? 0 : Math.round(performance.now() - begun)
  if (turn.background) busy.backgroundTurns++
  busy[turn.background ? "backgroundMs" : "requestsMs"] += ms
  if (ms >= LONG_MS) noted.push({ turn: ms, background: Boolean(turn.background), waiting: this.contended })
  return release.call(this, turn)
}

function statementsIn(bytes: Buffer): string[] {
  const found: string[] = []
  for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    const type = String.fromCharCode(bytes[at]!)
    const text = (from: number) => bytes.toString("utf8", from, bytes.indexOf(0, from))
    if (type === "Q") found.push(text(at + 5))
    if (type === "P") texts.set(text(at + 5), text(at + 6 + Buffer.byteLength(text(at + 5))))
    if (type === "B") found.push(texts.get(text(at + 6 + Buffer.byteLength(text(at + 5)))) ?? "?")
  }
  return found.map((statement) => statement.replace(/\s+/g, " ").slice(0, 160))
}

if (FILE) {
  setInterval(() => {
    noted.push({ second: busy })
    busy = { trips: 0, tripsMs: 0, requestsMs: 0, backgroundMs: 0, backgroundTurns: 0 }
    appendFileSync(FILE, noted.map((each) => `${JSON.stringify(each)}\n`).join(""))
    noted = []
  }, 1_000).unref()
}
