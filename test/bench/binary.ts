// bun test/bench/binary.ts — by how much reading screenshots makes the program larger: built with and without the worker that
// reads them, Tesseract and its English data. Fails from 8 MB on.

import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "../packaging/build.ts"

const MOST_MB = 8

const folder = mkdtempSync(join(tmpdir(), "binary-"))
try {
  const [whole, without] = [join(folder, "whole"), join(folder, "without")]
  await build(whole)
  await build(without, undefined, { pictures: false })
  const [size, bare] = [statSync(whole).size / 1e6, statSync(without).size / 1e6]
  const packed = [whole, without].map((file) => Bun.gzipSync(new Uint8Array(readFileSync(file))).length / 1e6)
  const grown = size - bare
  console.log(
    `the program: ${size.toFixed(1)} MB, without what reads screenshots ${bare.toFixed(1)} MB: ${grown.toFixed(1)} MB more`,
  )
  console.log(`compressed: ${packed[0]!.toFixed(1)} MB, without ${packed[1]!.toFixed(1)} MB`)
  if (grown <= 1 || grown >= MOST_MB) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
