import open from "tesseract.js-core/tesseract-core-simd-lstm.js"

/** The part of the API used here; the package has no types. */
export interface Tesseract {
  FS: { writeFile(path: string, bytes: Uint8Array): void; unlink(path: string): void }
  TessBaseAPI: new () => TessBaseAPI
}

export interface TessBaseAPI {
  /** Returns 0 on success. Languages are joined by "+". Engine 1 is the LSTM. */
  Init(folder: string | null, languages: string, engine: 1): number
  SetVariable(name: string, value: string): boolean
  /** Reads /input. Returns 1 if it is not a readable picture. */
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

// Deno infers the type from the module's JavaScript, which does not name the members of the instance
export const openTesseract = open as unknown as (parts: OpenParts) => Promise<Tesseract>
