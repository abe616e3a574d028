import * as v from "valibot"
import { action, type Diff, type LookContext, type MadeWrite } from "../../core/action.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Tx } from "../../database/types.ts"
import { Fault } from "../../lib/faults.ts"
import { AppId } from "../../lib/fields.ts"
import { bounded, described, named } from "../../lib/schema.ts"
import { parseRival, STORE_ID_PATTERNS } from "../../lib/store-ids.ts"
import { findApp } from "../tracked-app.ts"

/** Maximum per app: rivals added by hand are read every day in each of its storefronts. */
const MAX_NAMED = 50
const MAX_HIDDEN = 500

const Rival = v.pipe(
  bounded(v.string(), { pattern: STORE_ID_PATTERNS.rival }),
  v.maxLength(263),
  v.check((text) => parseRival(text) !== null),
  v.description("ios:<App Store id> or android:<package name>."),
)

const rivals = (description: string) =>
  described(v.pipe(v.array(Rival), v.minLength(1), v.maxLength(MAX_NAMED)), description)

/** Only the rivals named in the call. */
const RivalState = named("RivalLists", v.strictObject({ named: v.array(v.string()), hidden: v.array(v.string()) }))

export const addRivals = action({
  name: "add_rivals",
  summary: "Adds rivals to an app by hand.",
  description:
    "They are listed at any rank and read every day from the app's next reading on. A rival hidden by " +
    `remove_rivals is shown again. At most ${MAX_NAMED} per app.`,
  scope: "track:write",
  plan: "free",
  credits: 1,
  destructive: false,
  args: v.strictObject({
    appId: AppId,
    rivals: rivals("1 to 50 rivals. Existing rivals are listed in the preview and ignored."),
  }),
  example: { appId: "app_4fD0Zs81hQbK", rivals: ["ios:1437816860"] },
  state: RivalState,
  result: v.strictObject({ appId: v.string(), added: v.array(v.string()), alreadyNamed: v.array(v.string()) }),
  target: ({ appId }) => `app ${appId}`,
  look: ({ appId, rivals }, looking) => lookAt(appId, rivals, looking),
  diff({ app, named, hidden, unseen }, args) {
    const rivals = distinct(args.rivals)
    const added = rivals.filter((rival) => !named.includes(rival))
    refuseOver("be added by hand", MAX_NAMED, named.length, added.length)
    const back = rivals.filter((rival) => hidden.includes(rival))
    const already = rivals.filter((rival) => named.includes(rival))
    const elsewhere = added.filter((rival) => !isOnStoreOf(app, rival))
    return {
      ...diffOf(app, { named: already, hidden: back }, { named: rivals, hidden: [] }),
      summary: `Add ${counted(added.length)} of ${JSON.stringify(app.name)} by hand.`,
      notes: [
        ...note("Already added", already),
        ...note("Hidden before, and shown again", back),
        ...note(
          "No name yet, because no reading has shown it",
          unseen.filter((rival) => added.includes(rival)),
        ),
        ...note("The app is not tracked on that store, so its keywords are not read there", elsewhere),
      ],
    }
  },
  async write({ appId, rivals }, { named, hidden }, { tx }) {
    const added = distinct(rivals).filter((rival) => !named.includes(rival))
    await store(tx, appId, { named: [...named, ...added], hidden: hidden.filter((rival) => !rivals.includes(rival)) })
    return { appId, added, alreadyNamed: distinct(rivals).filter((rival) => named.includes(rival)) }
  },
  undo: { needsSameState: true, restore },
})

export const removeRivals = action({
  name: "remove_rivals",
  summary: "Removes rivals of an app and hides them.",
  description:
    "Rivals added by hand are removed. All given rivals are hidden: they are not listed even if they rank above the " +
    "app, until add_rivals restores them. Existing alerts stay.",
  scope: "track:write",
  plan: "free",
  credits: 1,
  destructive: true,
  args: v.strictObject({
    appId: AppId,
    rivals: rivals("1 to 50 rivals. Hidden rivals are listed in the preview and ignored."),
  }),
  example: { appId: "app_4fD0Zs81hQbK", rivals: ["ios:1437816860"] },
  state: RivalState,
  result: v.strictObject({ appId: v.string(), removed: v.array(v.string()), alreadyHidden: v.array(v.string()) }),
  target: ({ appId }) => `app ${appId}`,
  look: ({ appId, rivals }, looking) => lookAt(appId, rivals, looking),
  diff({ app, named, hidden, unseen }, args) {
    const rivals = distinct(args.rivals)
    const newlyHidden = rivals.filter((rival) => !hidden.includes(rival))
    refuseOver("be hidden", MAX_HIDDEN, hidden.length, newlyHidden.length)
    const byHand = rivals.filter((rival) => named.includes(rival))
    const already = rivals.filter((rival) => hidden.includes(rival))
    return {
      ...diffOf(app, { named: byHand, hidden: already }, { named: [], hidden: rivals }),
      summary: `Hide ${counted(newlyHidden.length)} of ${JSON.stringify(app.name)}.`,
      notes: [
        ...note("Added by hand before", byHand),
        ...note("Hidden already", already),
        ...note(
          "Not seen in any reading yet; hidden if it appears",
          unseen.filter((rival) => newlyHidden.includes(rival)),
        ),
      ],
    }
  },
  async write({ appId, rivals }, { named, hidden }, { tx }) {
    const removed = distinct(rivals).filter((rival) => !hidden.includes(rival))
    await store(tx, appId, { named: named.filter((rival) => !rivals.includes(rival)), hidden: [...hidden, ...removed] })
    return { appId, removed, alreadyHidden: distinct(rivals).filter((rival) => hidden.includes(rival)) }
  },
  undo: { needsSameState: true, restore },
})

interface Rivals {
  named: string[]
  hidden: string[]
}

interface RivalsState extends Rivals {
  app: TrackedApp
  /** The named rivals that no reading has shown yet. */
  unseen: string[]
}

/**
 * Reads all rivals of the app that were added or hidden by hand. Throws invalid_arguments if the app itself is named.
 */
async function lookAt(
  appId: string,
  rivals: readonly string[],
  { sql, caller, lock }: LookContext,
): Promise<RivalsState> {
  if (lock) {
    await sql`
      select id
      from tracked_app
      where id = ${appId} and workspace_id = ${caller.workspaceId}
      for no key update`
  }
  const app = await findApp(sql, caller, appId)
  if (rivals.some((rival) => rival === `ios:${app.iosId}` || rival === `android:${app.androidPkg}`))
    throw new Fault("invalid_arguments", {
      field: "rivals",
      detail: "An app cannot be its own rival. Remove it from the list.",
    })
  const seen = await sql<{ rival: string }[]>`
    select r.rival
    from unnest(${rivals as string[]}::text[]) r (rival)
    join store_app s on (s.platform, s.store_id) = (split_part(r.rival, ':', 1), split_part(r.rival, ':', 2))
    where exists (select from store_app_name where app_id = s.id and name is not null)
    order by r.rival
    limit 1000`
  const seenRivals = new Set(seen.map(({ rival }) => rival))
  const unseen = distinct(rivals).filter((rival) => !seenRivals.has(rival))
  return { app, named: app.manualRivals ?? [], hidden: app.hiddenRivals ?? [], unseen }
}

function refuseOver(what: string, most: number, current: number, more: number): void {
  if (more === 0 || current + more <= most) return
  const reason = `At most ${most} rivals of an app may ${what}; this would make it ${current + more}.`
  throw new Fault("write_limit_reached", { reason })
}

function isOnStoreOf({ iosId, androidPkg }: TrackedApp, rival: string): boolean {
  return (rival.startsWith("ios:") ? iosId : androidPkg) !== null
}

/** Compares only the rivals named in the call. */
function diffOf({ id, name }: TrackedApp, before: Rivals, after: Rivals): Pick<Diff, "target" | "before" | "after"> {
  return { target: { kind: "app", id, name }, before: { ...before }, after: { ...after } }
}

/** Puts the rivals of the write back into the lists that had them before. Other rivals stay unchanged. */
async function restore({ args, before }: MadeWrite, { tx }: { tx: Tx }): Promise<void> {
  const appId = String(args.appId)
  const rivals = args.rivals as string[]
  const was = before as unknown as Rivals
  const [app] = await tx<{ named: string[] | null; hidden: string[] | null }[]>`
    select manual_rivals as named, hidden_rivals as hidden
    from tracked_app
    where id = ${appId}`
  const without = (list: string[] | null | undefined) => (list ?? []).filter((rival) => !rivals.includes(rival))
  await store(tx, appId, {
    named: [...without(app?.named), ...was.named],
    hidden: [...without(app?.hidden), ...was.hidden],
  })
}

/** Stores null instead of an empty list, as in an app that never had any rivals added or hidden by hand. */
async function store(tx: Tx, appId: string, { named, hidden }: Rivals): Promise<void> {
  await tx`
    update tracked_app
    set manual_rivals = ${named.length > 0 ? named : null}::text[],
      hidden_rivals = ${hidden.length > 0 ? hidden : null}::text[]
    where id = ${appId}`
}

const distinct = (rivals: readonly string[]) => [...new Set(rivals)]
const counted = (count: number) => `${count} ${count === 1 ? "rival" : "rivals"}`
const note = (text: string, rivals: readonly string[]) => (rivals.length > 0 ? [`${text}: ${rivals.join(", ")}.`] : [])
