import * as v from "valibot"

/** Facts that identify a rival. */
export const rivalFacts = {
  rival: v.string(),
  /** Null if no reading has shown a name. */
  name: v.nullable(v.string()),
  manual: v.boolean(),
}
type RivalFacts = v.InferOutput<v.StrictObjectSchema<typeof rivalFacts, undefined>>

/** A rival; `id` is its row in store_app. */
export interface FollowedRival extends RivalFacts {
  id: number
  /** False for a rival of an earlier alert that is no longer followed. Its findings confirm alerts and add none. */
  isFollowed: boolean
}

export function rivalFields({ rival, name, manual }: RivalFacts) {
  return { rivalId: rival, rivalName: name, rivalManual: manual }
}

export function nameOf({ name, rival }: RivalFacts): string {
  return name ?? rival
}
