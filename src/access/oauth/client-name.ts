import * as v from "valibot"
import { isStorable } from "../../lib/text.ts"

/** The name of a client as shown to the owner, without characters that reorder or hide text. Long names are cut. */
export const ClientName = v.pipe(
  v.string(),
  v.check((text) => isStorable(text) && !CONTROL.test(text)),
  v.transform((text) => [...text.trim()].slice(0, MAX_LENGTH).join("")),
  v.check((text) => text === "" || VISIBLE.test(text.replaceAll(BLANK, ""))),
)

/** Shown for a client without a name. */
export const NAMELESS = "A client without a name"

const MAX_LENGTH = 200

/** Control characters, and bidirectional marks, embeddings, overrides and isolates. */
const CONTROL = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u

/** Letters and symbols without a glyph: Hangul fillers and the empty Braille pattern. */
const BLANK = /[\u115F\u1160\u3164\uFFA0\u2800]/gu
