import { listPersonKeys, revokeKey } from "../../access/key-register.ts"
import { type Identity, listIdentities, unlinkIdentity } from "../../access/oidc/identities.ts"
import { listWorkspacesOf, renamePerson } from "../../access/people/people.ts"
import { AccessProblem } from "../../access/problem.ts"
import { SHORTEST_PASSPHRASE, setPassphrase } from "../../access/sign-in/passphrase.ts"
import { endSessionById, endSessions, type ListedSession, listSessions } from "../../access/sign-in/session.ts"
import { card } from "../../ui/app/parts.ts"
import {
  formCard,
  listItem,
  type SettingsSection,
  type SettingsVisit,
  sectionAddress,
  settingsForm,
  stateTag,
} from "../../ui/app/settings.ts"
import { textField, usernameField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted } from "../../ui/words.ts"
import {
  type FactorSectionParts,
  factorFields,
  proveInForm,
  secondFactorCard,
  secondFactorForms,
} from "./second-factor.ts"

const PATH = "profile"
const back = sectionAddress(PATH)

interface ProfileParts extends FactorSectionParts {
  /** The name of the OpenID provider that signs people in. Null without one. */
  provider: string | null
}

/** The profile of the signed-in person: name, passphrase, second factor, identities, sessions, assistants and keys. */
export function profileSection(parts: ProfileParts): SettingsSection {
  const { sql, provider } = parts
  return {
    name: "Profile",
    about: "Your name, passphrase, sessions and assistants.",
    path: PATH,
    needs: null,
    notices: {
      renamed: "Your name is changed. Sign in with it next time.",
      passphrase: "Your passphrase is set. Your other sessions have ended.",
      begun: "Scan the picture with an authenticator app, then type its code.",
      off: "The second factor is off. Your passphrase alone signs you in.",
      unlinked: "The account is unlinked. It no longer signs you in.",
      ended: "The session is ended.",
      others: "Your other sessions are ended.",
      revoked: "The access is revoked.",
    },
    async show(visit) {
      const { personId } = visit.person
      const sessions = await listSessions(sql, { personId })
      const keys = await listPersonKeys(sql, personId)
      const identities = await listIdentities(sql, personId)
      const workspaces = await listWorkspacesOf(sql, personId)
      const endOthers = settingsForm(visit, { form: "others", button: "End all others" })
      return html`${formCard("Name", nameForm(visit))}
${formCard("Passphrase", passphraseForm(visit))}
${await secondFactorCard(parts, visit)}
${(provider !== null || identities.length > 0) && identitiesCard(visit, provider, identities)}
${card(
  "Sessions",
  html`${list(sessions.map((session) => sessionItem(visit, session)))}
${sessions.length > 1 && html`<div class="inside">${endOthers}</div>`}`,
  counted(sessions.length, "session"),
)}
${keys.length > 0 && card("Your assistants and keys", list(keys.map((key) => keyItem(visit, key))))}
${workspaces.length > 1 && card("Workspaces", list(workspaces.map((other) => workspaceItem(visit, other))))}`
    },
    forms: {
      ...secondFactorForms(parts, back),
      rename: {
        audit: "person rename",
        async send({ person }, fields) {
          await renamePerson(sql, person.personId, fields.get("name") ?? "")
          return { to: back, done: "renamed" }
        },
      },
      passphrase: {
        audit: "person passphrase",
        async send(visit, fields) {
          const { personId, id, hasPassphrase } = visit.person
          if (hasPassphrase) await proveInForm(parts, visit, fields)
          await setPassphrase(sql, personId, fields.get("passphrase") ?? "", { exceptSession: id })
          return { to: back, done: "passphrase" }
        },
      },
      unlink: {
        audit: "person unlink",
        async send({ person }, fields) {
          // The issuer is an address without spaces; the subject may contain some.
          const [issuer = "", ...subject] = (fields.get("id") ?? "").split(" ")
          const isUnlinked = await unlinkIdentity(sql, person.personId, { issuer, subject: subject.join(" ") })
          if (!isUnlinked) throw new AccessProblem("this account is unlinked already")
          return { to: back, done: "unlinked" }
        },
      },
      end: {
        audit: "session end",
        async send({ person }, fields) {
          const isEnded = await endSessionById(sql, Number(fields.get("id")), person.personId)
          if (!isEnded) throw new AccessProblem("this session has ended already")
          return { to: back, done: "ended" }
        },
      },
      others: {
        audit: "session end",
        async send({ person }) {
          await endSessions(sql, person.personId, person.id)
          return { to: back, done: "others" }
        },
      },
      revoke: {
        audit: "key revoke",
        async send({ person }, fields) {
          const id = Number(fields.get("id"))
          const keys = await listPersonKeys(sql, person.personId)
          if (!keys.some((key) => key.id === id)) throw new AccessProblem("this access is revoked already")
          await revokeKey(sql, id)
          return { to: back, done: "revoked" }
        },
      },
    },
  }
}

function list(items: readonly Html[]): Html {
  return html`<ul class="list">${items}</ul>`
}

function nameForm(visit: SettingsVisit): Html {
  const { person } = visit.person
  return settingsForm(visit, { form: "rename", button: "Change name" }, (form) =>
    textField(form, {
      name: "name",
      label: "Name",
      value: person,
      autocomplete: "username",
      maxLength: 100,
      hint: "You sign in with it, and approvals and the change log show it.",
      isRequired: true,
    }),
  )
}

function passphraseForm(visit: SettingsVisit): Html {
  const { person, hasPassphrase, hasSecondFactor } = visit.person
  const button = hasPassphrase ? "Change passphrase" : "Set passphrase"
  return settingsForm(visit, { form: "passphrase", button }, (form) => {
    const proof = hasPassphrase ? factorFields(form, { person, hasCode: hasSecondFactor }) : usernameField(person)
    const next = textField(form, {
      name: "passphrase",
      label: "New passphrase",
      type: "password",
      autocomplete: "new-password",
      hint: `At least ${SHORTEST_PASSPHRASE} characters. Your other sessions end.`,
      isRequired: true,
    })
    return html`${proof}${next}`
  })
}

/** The accounts at the OpenID provider with which the person can sign in, and a button that links another one. */
function identitiesCard(visit: SettingsVisit, provider: string | null, identities: readonly Identity[]): Html {
  const link =
    provider !== null &&
    html`<form class="inside" method="post" action="/sign-in/oidc">${hiddenFieldsOf(visit)}
<input type="hidden" name="next" value="${back}"><button type="submit" name="link" value="1">Link ${provider}</button>
</form>`
  return card(
    "Sign-in with a provider",
    html`${list(identities.map((identity) => identityItem(visit, identity)))}${link}`,
  )
}

function identityItem(visit: SettingsVisit, { issuer, subject, label, createdAt }: Identity): Html {
  return listItem(
    html`<strong><bdi>${label}</bdi></strong>`,
    html`<bdi>${new URL(issuer).host}</bdi> · linked ${momentTime(createdAt.toISOString())}`,
    settingsForm(visit, { form: "unlink", of: `${issuer} ${subject}`, button: "Unlink", tone: "quiet" }),
  )
}

function hiddenFieldsOf(visit: SettingsVisit): Html[] {
  return visit.context.formFields.map(([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`)
}

const WAYS: Record<ListedSession["via"], string> = {
  passphrase: "passphrase",
  code: "code",
  invitation: "invitation",
  proxy: "proxy",
  oidc: "OpenID provider",
}

function sessionItem(visit: SettingsVisit, { id, workspace, via, agent, createdAt, usedAt }: ListedSession): Html {
  const isThis = id === visit.person.id
  const title = html`<bdi>${browserIn(agent)}</bdi>${isThis && html` ${stateTag("this browser", true)}`}`
  const details = html`<bdi>${workspace}</bdi> · signed in by ${WAYS[via]} ${momentTime(
    createdAt.toISOString(),
  )} · last use ${momentTime(usedAt.toISOString())}`
  return listItem(
    title,
    details,
    !isThis && settingsForm(visit, { form: "end", of: String(id), button: "End", tone: "quiet" }),
  )
}

/** Returns the browser and system that a User-Agent header names. */
function browserIn(agent: string): string {
  const browser = ["Edg", "OPR", "Firefox", "Chrome", "Safari"].find((name) => agent.includes(`${name}/`))
  const system = ["iPhone", "iPad", "Android", "Windows", "Mac OS", "Linux"].find((name) => agent.includes(name))
  const named = { Edg: "Edge", OPR: "Opera" }[browser ?? ""] ?? browser
  return [named ?? "A browser", system].filter(Boolean).join(" on ")
}

function keyItem(visit: SettingsVisit, key: Awaited<ReturnType<typeof listPersonKeys>>[number]): Html {
  const { id, name, kind, hint, workspace, scopes } = key
  const title = html`<strong><bdi>${name}</bdi></strong> <span class="hash">${hint}</span>`
  const what = kind === "grant" ? "assistant" : `${kind} key`
  const details = html`${what} in <bdi>${workspace}</bdi> · ${counted(scopes.length, "right")}`
  return listItem(
    title,
    details,
    settingsForm(visit, { form: "revoke", of: String(id), button: "Revoke", tone: "quiet" }),
  )
}

function workspaceItem(visit: SettingsVisit, { id, name }: { id: number; name: string }): Html {
  const isThis = id === visit.workspaceId
  const title = html`<bdi>${name}</bdi>${isThis && html` ${stateTag("shown now", true)}`}`
  const open = html`<form method="post" action="/sign-in/workspace">${hiddenFieldsOf(visit)}
<input type="hidden" name="workspace" value="${id}"><button type="submit">Open</button></form>`
  return listItem(title, "", !isThis && open)
}
