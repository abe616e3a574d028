import { Buffer } from "node:buffer"
import { openOcrThread } from "../../texts/pictures/ocr-thread.ts"
import { ENGLISH } from "../../texts/pictures/trained-data.ts"
import type { Invocation } from "../cli/command.ts"
import { loadTesseract, trainedIn } from "../process/pictures.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"

const THING = "screenshots"

/** Checks OCR with the trained data of OCR_DATA. Returns nothing without that setting: English is included. */
export async function checkScreenshots({ settings: { ocrData } }: Pick<Invocation, "settings">): Promise<Finding[]> {
  if (ocrData === undefined) return []
  const names = trainedIn(ocrData)
  const began = performance.now()
  const thread = openOcrThread({ load: (languages) => loadTesseract(languages, ocrData) })
  try {
    const table = await thread.read(new Uint8Array(Buffer.from(WORD, "base64")), [ENGLISH])
    if (!table?.includes("Appmeter")) return [problem(THING, "Tesseract does not recognise the test word", FIX)]
    const ms = Math.round(performance.now() - began)
    const trained = [...new Set([ENGLISH, ...names])].sort().join(", ")
    const says = `Tesseract recognises the test word in ${ms} ms; trained data: ${trained}`
    return [
      names.length > 0
        ? ok(THING, says)
        : warning(THING, says, "put NAME.traineddata files into the folder of OCR_DATA"),
    ]
  } catch (error) {
    return [problem(THING, `Tesseract does not start: ${(error as Error).message}`, FIX)]
  } finally {
    thread.stop()
  }
}

const FIX = "reinstall the program, or use LSTM data of Tesseract 4 or 5"

/** A PNG with the word "Appmeter". */
const WORD =
  "iVBORw0KGgoAAAANSUhEUgAAASwAAABQAQAAAACLkXXWAAABdklEQVR42u3VO27EIBAG4J8QZdKx5VbhGimicDOb1Ra5FrkJR6CkQEwGe1da1o5i" +
  "RUlnV358A2KGMeAtV8LOdraz/2PR/JZVu2Rhycoao79kpyXLa0xvYmfN6V2zz7bQJ0uMYg+OrtDHLdNnTq9gH6kSBnCBE+ZNfaKOnTgdMHqv6xPe" +
  "MCZYjwrds0rCICN4VR9xhIswHgXy1LMws/YBB7jwRslkWmMUrXcyU1TB+UrZJhsqblkxwkwS5qtKWjxrYS4O4I7FcWKjH3SmZE+NRWFqwWw2fgwz" +
  "U1emb5m8mhmHgbJp7LTKkusYoIQB7/QtK9+ylrNtzG5g8Z6paVlO8n7HzN+xMJaNTFLfinVhfp2xsLmm9cJa6W0cOuYl7LqRZialNcmEBdNJybZ8" +
  "VjMLB8rID+gnVY2h9cKFRQgrWDDW15aZWIIpU8vcM5WO0puBZpbhChjUsdr6N70Q+2RnNgVKO/ejTbe2LeXHn+rO/pXtp/PO1tgXthRAiqr72K4A" +
  "AAAASUVORK5CYII="
