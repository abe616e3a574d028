import * as v from "valibot"
import { type Action, action } from "../../src/core/action.ts"
import type { Sql } from "../../src/database/types.ts"
import type { OutsideWrite } from "../../src/jobs/outside.ts"
import { AppId } from "../../src/lib/fields.ts"
import { findApp } from "../../src/tracking/tracked-app.ts"
import { bidding } from "./platform.ts"

/** Returns set_bid as a write behind POST /actions, sent to the stand-in at `url`. */
export const setBid = (url: string): Action =>
  action({
    name: "set_bid",
    summary: "Sets a bid.",
    scope: "ads:write",
    plan: "pro",
    credits: 2,
    destructive: true,
    args: v.strictObject({ appId: AppId, target: v.string(), bid: v.number() }),
    example: { appId: "app_kettle", target: "tea", bid: 2 },
    state: v.strictObject({ bid: v.number() }),
    result: v.strictObject({ bid: v.number() }),
    target: ({ target }) => `bid ${target}`,
    look: ({ appId }, { sql, caller }) => findApp(sql as Sql, caller, appId),
    diff: ({ id, name }, { bid, target }, before) => ({
      summary: `Set the bid of ${target} to ${bid}.`,
      target: { kind: "app", id, name },
      before: before as { bid: number },
      after: { bid },
      notes: [],
    }),
    outside: bidding(url).get("set_bid") as OutsideWrite,
  })
