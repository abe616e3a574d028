// The thread that reads the words in pictures. A picture takes one or two seconds, during which the main thread could
// not answer calls. Ending the thread frees its memory.
import { openTesseract, type TessBaseAPI, type Tesseract } from "./tesseract.ts"

/** The first request contains Tesseract's files; each later request contains a picture. */
export type Request =
  | { id: number; wasm: Uint8Array; data: readonly { name: string; bytes: Uint8Array }[] }
  | { id: number; picture: Uint8Array }

/** `table` is Tesseract's table (TSV), which lines.ts parses. Null if the picture is unreadable. */
export type Reply = { id: number; table: string | null } | { id: number; error: string }

declare const self: {
  onmessage: (event: { data: Request }) => void
  postMessage(reply: Reply): void
}

limitMemory()
let tesseract: { core: Tesseract; api: TessBaseAPI } | undefined

self.onmessage = async ({ data: request }) => {
  const { id } = request
  try {
    if ("wasm" in request) tesseract = await open(request)
    self.postMessage({ id, table: "picture" in request ? tableOf(request.picture) : null })
  } catch (error) {
    self.postMessage({ id, error: (error as Error).message ?? String(error) })
  }
}

async function open({ wasm, data }: Extract<Request, { wasm: Uint8Array }>) {
  const core = await openTesseract({ wasmBinary: wasm, TesseractProgress() {}, print() {}, printErr() {} })
  for (const { name, bytes } of data) core.FS.writeFile(`${name}.traineddata`, bytes)
  const api = new core.TessBaseAPI()
  if (api.Init(null, data.map(({ name }) => name).join("+"), LSTM) !== 0)
    throw new Error("Tesseract cannot use the trained data")
  api.SetVariable("tessedit_pageseg_mode", SPARSE)
  return { core, api }
}

/** The largest allowed picture, 9 million pixels of 4 bytes, takes 156 MB. */
const MAX_MEMORY_BYTES = 200_000_000
const PAGE_BYTES = 65_536

/**
 * Limits the memory of WebAssembly, since runtimes cannot limit that of a thread. Beyond the limit Tesseract fails to
 * allocate memory and gives up.
 */
function limitMemory(): void {
  const { prototype } = WebAssembly.Memory
  const { grow } = prototype
  prototype.grow = function (this: WebAssembly.Memory, pages: number) {
    if (this.buffer.byteLength + pages * PAGE_BYTES > MAX_MEMORY_BYTES)
      throw new RangeError("the memory limit is reached")
    return grow.call(this, pages)
  }
}

const LSTM = 1
/** Tesseract's mode that finds as much text as possible in no particular order, since captions may be anywhere. */
const SPARSE = "11"

function tableOf(picture: Uint8Array): string | null {
  const { core, api } = tesseract!
  core.FS.writeFile("/input", picture)
  try {
    if (api.SetImageFile(UPRIGHT, 0) === 1) return null
    api.Recognize(null)
    return api.GetTSVText(0)
  } finally {
    api.Clear()
    core.FS.unlink("/input")
  }
}

const UPRIGHT = 1
