import * as v from "valibot"

/** An app that is a rival now. */
export const rivalFacts = {
  rival: v.string(),
  /** Null until one was seen. */
  name: v.nullable(v.string()),
  manual: v.boolean(),
}
type RivalFacts = v.InferOutput<v.StrictObjectSchema<typeof rivalFacts, undefined>>

/** `id` is its store_app row. */
export interface FollowedRival extends RivalFacts {
  id: number
  /** False for a rival of an alert that was told when it was followed: its findings keep alerts, and add none. */
  isFollowed: boolean
}

export function rivalFields({ rival, name, manual }: RivalFacts) {
  return { rivalId: rival, rivalName: name, rivalManual: manual }
}

export function nameOf({ name, rival }: RivalFacts): string {
  return name ?? rival
}
