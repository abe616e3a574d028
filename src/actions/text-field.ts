import * as v from "valibot"
import { bounded } from "../vocabulary/schema.ts"

/** A text of 1 to so many code points, as JSON Schema counts them. */
export function textUpTo(most: number) {
  return v.pipe(
    bounded(v.string(), { maxLength: most }),
    v.minLength(1),
    v.check((text) => [...text].length <= most),
  )
}
