import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import type { RawBody } from "../sources/source.ts"
import { openRawBodies, type RawBodies, type RawBodiesOptions } from "./raw-bodies.ts"

export interface AccountBodiesOptions extends RawBodiesOptions {
  /** 0 keeps none. */
  accountDays: number
}

/** What consoles and ad accounts answered, each account's in a folder of its own: it is kept longer than pages, and goes with it. */
export interface AccountBodies {
  /** Never throws, as of a page. */
  keep(body: RawBody, account: string): Promise<void>
  /** Whosever it is. */
  read: RawBodies["read"]
  has: RawBodies["has"]
  size(): Promise<{ bodies: number; bytes: number }>
  /** All of an account. */
  forget(account: string): Promise<void>
  /** What is too old or too much; of accounts that are not among these what is a week old. Looks once in ten minutes. */
  sweep(accounts: readonly string[]): Promise<void>
}

/** Another database may share the folder, or be restored from a backup: what it knows is not gone at once. */
const STRANGERS_DAYS = 7
const SWEEP_MS = 600_000

export function openAccountBodies({ folder, accountDays, ...options }: AccountBodiesOptions): AccountBodies {
  const { megabytes, now = () => new Date() } = options
  const root = join(folder, "accounts")
  const of = (account: string, days = accountDays, shares = 1) =>
    openRawBodies({ ...options, folder: join(root, account), days, megabytes: megabytes / shares })
  let sweptAt = Number.NEGATIVE_INFINITY
  const firstOf = async <Of>(ask: (bodies: RawBodies) => Promise<Of | null>): Promise<Of | null> => {
    for (const account of await accountsIn(root)) {
      const found = await ask(of(account))
      if (found !== null) return found
    }
    return null
  }
  return {
    async keep(body, account) {
      if (IS_ACCOUNT.test(account)) await of(account).keep(body)
    },
    read: (sha256) => firstOf((bodies) => bodies.read(sha256)),
    has: async (sha256) => (await firstOf(async (bodies) => (await bodies.has(sha256)) || null)) ?? false,
    async size() {
      const sizes = await Promise.all((await accountsIn(root)).map((account) => of(account).size()))
      const sum = (what: "bodies" | "bytes") => sizes.reduce((total, size) => total + size[what], 0)
      return { bodies: sum("bodies"), bytes: sum("bytes") }
    },
    async forget(account) {
      if (IS_ACCOUNT.test(account)) await rm(join(root, account), { recursive: true, force: true })
    },
    async sweep(accounts) {
      if (now().getTime() - sweptAt < SWEEP_MS) return
      sweptAt = now().getTime()
      const found = await accountsIn(root)
      const daysOf = (account: string) =>
        accounts.includes(account) ? accountDays : Math.min(accountDays, STRANGERS_DAYS)
      for (const account of found) await of(account, daysOf(account), found.length).sweep()
    },
  }
}

const IS_ACCOUNT = /^ac_[0-9a-f]{18}$/

async function accountsIn(root: string): Promise<string[]> {
  const names = await readdir(root).catch((error) => {
    if ((error as { code?: string }).code === "ENOENT") return []
    throw error
  })
  return names.filter((name) => IS_ACCOUNT.test(name)).sort()
}

/** Bodies of stores and of accounts; `oldest` is of those of stores. */
export function openAllBodies(options: AccountBodiesOptions): Pick<RawBodies, "read" | "has" | "size"> {
  const [stores, accounts] = [openRawBodies(options), openAccountBodies(options)]
  return {
    read: async (sha256) => (await stores.read(sha256)) ?? (await accounts.read(sha256)),
    has: async (sha256) => (await stores.has(sha256)) || (await accounts.has(sha256)),
    async size() {
      const [own, others] = [await stores.size(), await accounts.size()]
      return { ...own, bodies: own.bodies + others.bodies, bytes: own.bytes + others.bytes }
    },
  }
}
