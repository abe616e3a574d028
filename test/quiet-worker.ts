/**
 * The thread of the embedded database for tests. A batch that begins with this mark runs without triggers and foreign
 * keys, as with `session_replication_role = replica`. That setting discards every plan, which costs 35 ms of processor
 * time afterwards, so this writes the variable in memory instead.
 */
export const QUIETLY = "/* quietly */"

interface Request {
  id: number
  kind: string
  batch?: Uint8Array<ArrayBuffer>
}

type Answering = (event: { data: Request }) => unknown

declare const self: { onmessage: Answering; postMessage: (reply: object) => void }

const memories: WebAssembly.Memory[] = []
let place: number | undefined

// an import only for the mark does not start a database thread
if (!Bun.isMainThread) {
  const early: { data: Request }[] = []
  self.onmessage = (event) => early.push(event)
  WebAssembly.Memory = class extends WebAssembly.Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super(descriptor)
      memories.push(this)
    }
  }
  await import("../src/database/embedded/worker.ts")
  const answer = self.onmessage
  self.onmessage = (event) => (isMarked(event.data) ? runQuietly(event, answer) : answer(event))
  for (const event of early) self.onmessage(event)
}

function isMarked({ kind, batch }: Request): boolean {
  return kind === "exec" && Buffer.from(batch!.subarray(5, 5 + QUIETLY.length)).toString() === QUIETLY
}

/** Runs a batch with the variable changed. Statements run synchronously, so no other statement runs in the meantime. */
function runQuietly(event: { data: Request }, answer: Answering): unknown {
  place ??= findPlace(answer)
  words()[place] = REPLICA
  try {
    return answer(event)
  } finally {
    words()[place] = 0
  }
}

const words = () => new Int32Array(memories.at(-1)!.buffer)

const REPLICA = 1
/** The range of memory that contains PostgreSQL's variables. A copy of them lies behind it. */
const SEARCHED = 4_000_000

/** Returns the first word that always equals the setting when the setting changes. */
function findPlace(answer: Answering): number {
  const post = self.postMessage
  self.postMessage = () => {}
  const whereIs = (role: string, value: number, among: Iterable<number>) => {
    answer({ data: { id: -1, kind: "exec", batch: query(`set session_replication_role = ${role}`) } })
    const [now, found]: [Int32Array, number[]] = [words(), []]
    for (const at of among) if (now[at] === value) found.push(at)
    return found
  }
  const places = whereIs("origin", 0, whereIs("local", 2, whereIs("replica", REPLICA, everyPlace())))
  self.postMessage = post
  if (places.length === 0) throw new Error("the word of session_replication_role is nowhere")
  return places[0]!
}

function* everyPlace(): Iterable<number> {
  for (let at = 0; at < SEARCHED; at++) yield at
}

function query(text: string): Uint8Array<ArrayBuffer> {
  const body = Buffer.from(`${text}\0`)
  const message = Buffer.alloc(5 + body.length)
  message.write("Q")
  message.writeUInt32BE(4 + body.length, 1)
  body.copy(message, 5)
  return new Uint8Array(message)
}
