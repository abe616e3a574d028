// Adds a write to an outside platform to a server: the stand-in at PLATFORM_URL. Must run before the catalogue reads
// the list of writes.
import type { Action } from "../../src/core/action.ts"
import { actions } from "../../src/writes.ts"
import { setBid } from "../jobs/set-bid.ts"

;(actions as Action[]).push(setBid(process.env.PLATFORM_URL as string))
