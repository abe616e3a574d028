import { addMember, addPerson } from "../../../src/access/people/people.ts"
import { type Role, scopesOf } from "../../../src/access/people/roles.ts"
import type { Right } from "../../../src/access/scopes.ts"
import { createCode } from "../../../src/access/sign-in/code.ts"
import type { Service } from "../../service.ts"
import { type Browser, browserOf } from "../sign-in/browser.ts"

export interface Member {
  personId: number
  name: string
  browser: Browser
}

let count = 0
let addresses = 0

/** Returns a new address, so that tests do not reach the limits per address. */
export const anotherAddress = () => `198.19.${++addresses >> 8}.${addresses & 255}`

/** A person with a role, or any set of scopes, who is signed in to the workspace. */
export async function memberOf(
  service: Service,
  workspaceId: number,
  role: Role | readonly Right[],
  { apps = null }: { apps?: string[] | null } = {},
): Promise<Member> {
  const name = `Person ${++count}`
  const scopes = typeof role === "string" ? scopesOf(role) : role
  const personId = await service.sql.begin((tx) => addPerson(tx, { workspaceId, name, scopes, appList: apps }))
  return { personId, name, browser: await signedIn(service, workspaceId, name) }
}

/** Adds a person of another workspace to this one. */
export async function alsoMember(service: Service, workspaceId: number, personId: number, role: Role): Promise<void> {
  await service.sql.begin((tx) => addMember(tx, { workspaceId, personId, scopes: scopesOf(role), appList: null }))
}

export async function signedIn(service: Service, workspaceId: number, name: string): Promise<Browser> {
  const browser = browserOf(service, { from: anotherAddress() })
  const { status } = await browser.send("/sign-in", { code: await createCode(service.sql, workspaceId, name) })
  if (status !== 303) throw new Error(`the sign-in answered ${status}`)
  return browser
}
