import open from "tesseract.js-core/tesseract-core-simd-lstm.js"

/** As far as it is used here; the package has no types. */
export interface Tesseract {
  FS: { writeFile(path: string, bytes: Uint8Array): void; unlink(path: string): void }
  TessBaseAPI: new () => TessBaseAPI
}

export interface TessBaseAPI {
  /** 0 = done. Languages with "+" between them; 1 is the engine that reads with an LSTM. */
  Init(folder: string | null, languages: string, engine: 1): number
  SetVariable(name: string, value: string): boolean
  /** Of the file /input; 1 = it is no picture that can be read. */
  SetImageFile(exif: number, angle: number): number
  Recognize(monitor: null): number
  GetTSVText(page: number): string
  Clear(): void
}

interface OpenParts {
  wasmBinary: Uint8Array
  TesseractProgress(): void
  print(line: string): void
  printErr(line: string): void
}

export const openTesseract = open as (parts: OpenParts) => Promise<Tesseract>
