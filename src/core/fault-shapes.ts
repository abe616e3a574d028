import * as v from "valibot"
import { EXTRA, type ExtraName, FAULT_CODES } from "../lib/faults.ts"
import { extending, named } from "../lib/schema.ts"

const Problem = named("Problem", EXTRA.problems.item, "A problem of one argument.")

type Fields = { [Name in ExtraName]: v.OptionalSchema<(typeof EXTRA)[Name], undefined> }

const optional = (entries: Record<string, v.GenericSchema>): object =>
  Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, v.optional(entry)]))

/** A fault without the address of its documentation: code, sentence, and the fields of that code. */
export const FaultText = named(
  "FaultText",
  v.strictObject({
    error: named("FaultCode", v.picklist(FAULT_CODES)),
    message: v.string(),
    ...(optional({ ...EXTRA, problems: v.array(Problem) }) as Fields),
  }),
)

/** The body of any error. */
export const FaultShape = extending(
  FaultText,
  v.strictObject({ ...FaultText.entries, docs: v.pipe(v.string(), v.url()) }),
)
