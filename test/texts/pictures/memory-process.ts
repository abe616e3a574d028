// Reads screenshots and prints the memory of its process in MB: before the reading, at the maximum, and after the
// reading.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { loadTesseract } from "../../../src/commands/process/pictures.ts"
import { openOcrThread } from "../../../src/texts/pictures/ocr-thread.ts"

const megabytes = () => Math.round(process.memoryUsage.rss() / 1e6)
const before = megabytes()
let most = before
const look = setInterval(() => {
  most = Math.max(most, megabytes())
}, 10)
const thread = openOcrThread({ load: (names) => loadTesseract(names), idleMs: 50 })
let read = 0
for (let n = 1; n <= Number(process.argv[2]); n++) {
  const picture = new Uint8Array(readFileSync(join(import.meta.dirname, "opentracks", `${n}.jpg`)))
  if ((await thread.read(picture, ["eng"])) !== null) read++
}
let after = megabytes()
// there is no event for the end of the thread, but its memory is freed within seconds
for (let waited = 0; waited < 50 && after > before + (most - before) / 3; waited++) {
  await Bun.sleep(200)
  Bun.gc(true)
  after = Math.min(after, megabytes())
}
clearInterval(look)
console.log(JSON.stringify({ read, before, most, after }))
