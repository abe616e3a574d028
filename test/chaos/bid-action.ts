// Gives a server a write to an outside platform, the stand-in at PLATFORM_URL; the catalogue reads the list after this.
import type { Action } from "../../src/core/action.ts"
import { actions } from "../../src/writes.ts"
import { setBid } from "../jobs/set-bid.ts"

;(actions as Action[]).push(setBid(process.env.PLATFORM_URL as string))
