import type { Action } from "./action.ts"
import { addApp } from "./add-app.ts"
import { addKeywords, removeKeywords } from "./keywords.ts"

/** Every write behind POST /actions, in the order of the specification. */
export const actions: readonly Action[] = [addApp, addKeywords, removeKeywords]
